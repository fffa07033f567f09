// Whole documents that must be refused, each for one mistake (malformed.h): encodings, numbers with junk, defaults, copies,
// files in files, names that are taken, references to nothing, numbers out of their range.
#pragma once

#define BALL(content)                                                                                        \
	"<mujoco><worldbody>\n<body name='b'><freejoint/>\n" content "\n</body></worldbody></mujoco>"
#define ARM(content)                                                                                         \
	"<mujoco>\n" content "\n<worldbody>\n<body name='b'><joint name='j'/>\n"                                 \
	"<geom name='g' size='1'/><site name='s'/></body></worldbody></mujoco>"

static const struct {
	const char *ending, *text;
} malformedDocuments[] = {
	{ "xml", "\xef\xbb\xbf\xef\xbb\xbf<mujoco><worldbody>\n<body name='b'><freejoint/>\n<geom name='g' "
			 "size='1'/>\n</body></worldbody></mujoco>" },
	{ "xml", "<?xml version='1.0' encoding='EBCDIC-9'?>\n<mujoco><worldbody>\n<body "
			 "name='b'><freejoint/>\n<geom name='g' size='1'/>\n</body></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n<!-- never closed" },
	{ "xml", BALL("<geom name='g' size='1 abc'/>") },
	{ "xml", BALL("<geom name='g' size='1e'/>") },
	{ "xml", BALL("<geom name='g' size='0x1p3'/>") },
	{ "xml", BALL("<geom name='g' size='+-1'/>") },
	{ "xml", BALL("<geom name='g' size='1;2'/>") },
	{ "xml", BALL("<geom name='g' size='1\xc2\xa0'/>") },
	{ "xml", BALL("<geom name='g' size='\xd9\xa1'/>") },
	{ "xml", BALL("<geom name='g' size=''/>") },
	{ "xml", BALL("<geom name='g' size='1e400'/>") },
	{ "xml", BALL("<geom name='g' size='-0'/>") },
	{ "xml", BALL("<geom name='g' size='1e-400'/>") },
	{ "xml", BALL("<geom name='g' size='infinity'/>") },
	{ "xml", BALL("<geom name='g' size='NaN(1)'/>") },
	{ "xml", BALL("<geom name='g' size='1d3'/>") },
	{ "xml", BALL("<geom name='g' size='1_000'/>") },
	{ "xml", BALL("<geom name='g' size='1' contype='99999999999'/>") },
	{ "xml", BALL("<geom name='g' size='1' contype='1.5'/>") },
	{ "xml", BALL("<geom name='g' size='1' group='x'/>") },
	{ "xml", BALL("<geom name='g' size='1' condim='2'/>") },
	{ "xml", BALL("<geom name='g' size='1' pos='1e308 1e308 1e308'/>") },
	{ "xml", BALL("<geom name='g' size='1e300'/>") },
	{ "xml", BALL("<geom name='g' size='1e-300'/>") },
	{ "xml", BALL("<geom name='g' size='1' mass='nan'/>") },
	{ "xml", BALL("<geom name='g' size='1' quat='nan 0 0 0'/>") },
	{ "xml", BALL("<geom name='g' size='1' euler='0 0 inf'/>") },
	{ "xml", BALL("<geom name='g' size='1' rgba='1 2'/>") },
	{ "xml", BALL("<geom name='g' size='1' rgba='a b c d'/>") },
	{ "xml", BALL("<geom name='g' size='1' type='Sphere'/>") },
	{ "xml", BALL("<geom name='g' size='1' type=' sphere'/>") },
	{ "xml", BALL("<geom name='g' size='1' friction='1 nan'/>") },
	{ "xml", BALL("<geom name='g' size='1' mass='1e308'/>") },
	{ "xml", BALL("<geom name='g' size='1' density='1e300'/>") },
	{ "xml", "<mujoco>\n<default><default class='a'/>\n<default class='a'/></default></mujoco>" },
	{ "xml", "<mujoco>\n<default><default><geom size='1'/></default></default></mujoco>" },
	{ "xml", "<mujoco>\n<default><geom size='x'/></default></mujoco>" },
	{ "xml", "<mujoco>\n<default><default class='q'><joint axis='0 0 "
			 "nan'/></default></default><worldbody><geom size='1'/></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<body childclass='nope'><freejoint/><geom "
			 "size='1'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<replicate count='2147483647'><geom "
			 "size='1'/></replicate></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<replicate count='100'><replicate count='100'><replicate "
			 "count='100'><replicate count='100'><replicate count='100'><replicate count='100'><replicate "
			 "count='100'><replicate count='100'><replicate count='100'><replicate count='100'><geom "
			 "size='1'/></replicate></replicate></replicate></replicate></replicate></replicate></"
			 "replicate></replicate></replicate></replicate></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<replicate count='-3'><geom size='1'/></replicate></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<replicate count='99999999999999'><geom "
			 "size='1'/></replicate></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<replicate count='3' offset='nan 0 0'><geom "
			 "size='1'/></replicate></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<replicate count='2'><geom name='a' size='1'/></replicate><geom name='a0' "
			 "size='1'/></worldbody></mujoco>" },
	{ "xml",
	  "<mujoco>\n<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' scale='0 1 "
	  "1'/></asset>\n<worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' scale='1e200 1e200 "
			 "1e200'/></asset>\n<worldbody><body><freejoint/><geom type='mesh' "
			 "mesh='m'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 "
			 "2.5'/></asset>\n<worldbody><body><freejoint/><geom type='mesh' "
			 "mesh='m'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n<asset><hfield name='m' nrow='100000' ncol='100000' size='1 1 1 "
			 "1'/></asset>\n<worldbody><geom type='hfield' hfield='m'/></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n<asset><hfield name='m' nrow='4' ncol='4' size='-1 1 1 "
			 "1'/></asset>\n<worldbody><geom type='hfield' hfield='m'/></worldbody></mujoco>" },
	{ "xml", ARM("<actuator><motor name='a' joint='j'/>\n<motor name='a' joint='j'/></actuator>") },
	{ "xml", ARM("<sensor><jointpos name='a' joint='j'/>\n<jointpos name='a' joint='j'/></sensor>") },
	{ "xml", ARM("<tendon><fixed name='a'><joint joint='j' coef='1'/></fixed>\n<fixed name='a'><joint "
				 "joint='j' coef='1'/></fixed></tendon>") },
	{ "xml", "<mujoco><worldbody>\n<body name='b'><freejoint/>\n<geom name='g' size='1'/>\n<site "
			 "name='s'/>\n<site name='s'/></body></worldbody></mujoco>" },
	{ "xml", ARM("<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>\n<mesh name='m' vertex='0 0 0 1 0 "
				 "0 0 1 0 0 0 1'/></asset>") },
	{ "xml", ARM("<actuator>\n<motor name='a'/></actuator>") },
	{ "xml", ARM("<actuator>\n<motor name='a' joint='j' site='s'/></actuator>") },
	{ "xml", ARM("<actuator>\n<motor joint='j' gear='nan'/></actuator>") },
	{ "xml", ARM("<actuator>\n<motor joint='j' ctrlrange='1 -1'/></actuator>") },
	{ "xml", ARM("<actuator>\n<motor joint='j' ctrllimited='true'/></actuator>") },
	{ "xml", ARM("<actuator>\n<general joint='j' dyntype='filter' dynprm='-1'/></actuator>") },
	{ "xml", ARM("<actuator>\n<general joint='j' dyntype='filter' dynprm='0'/></actuator>") },
	{ "xml", ARM("<actuator>\n<position joint='j' kp='-5'/></actuator>") },
	{ "xml", ARM("<actuator>\n<velocity joint='j' kv='-5'/></actuator>") },
	{ "xml", ARM("<actuator>\n<general joint='j' gaintype='affin'/></actuator>") },
	{ "xml", ARM("<tendon>\n<fixed name='a'/></tendon>") },
	{ "xml", ARM("<tendon>\n<fixed name='a'><site site='s'/></fixed></tendon>") },
	{ "xml", ARM("<tendon>\n<spatial name='a'><site site='s'/></spatial></tendon>") },
	{ "xml", ARM("<tendon>\n<spatial name='a'><site site='s'/><site site='s'/><pulley divisor='0'/><site "
				 "site='s'/><site site='s'/></spatial></tendon>") },
	{ "xml", ARM("<tendon>\n<fixed name='a' stiffness='-2'><joint joint='j' coef='1'/></fixed></tendon>") },
	{ "xml", ARM("<sensor>\n<jointpos joint='nope'/></sensor>") },
	{ "xml", ARM("<keyframe>\n<key qpos='nan'/></keyframe>") },
	{ "xml", ARM("<equality>\n<weld body1='b' body2='b'/></equality>") },
	{ "xml", ARM("<equality>\n<connect anchor='0 0 0'/></equality>") },
	{ "xml", ARM("<equality>\n<joint joint1='j' polycoef='nan 0 0 0 0'/></equality>") },
	{ "xml", ARM("<option timestep='nan'/>") },
	{ "xml", ARM("<option\n timestep='1e-320'/>") },
	{ "xml", ARM("<option gravity='0 0 inf'/>") },
	{ "xml", ARM("<option density='-1'/>") },
	{ "xml", ARM("<option integrator='Verlet'/>") },
	{ "xml", ARM("<option><flag gravity='off'/></option>") },
	{ "xml", ARM("<compiler eulerseq='abc'/>") },
	{ "xml", ARM("<compiler boundmass='-1'/>") },
	{ "xml", ARM("<compiler settotalmass='nan'/>") },
	{ "xml", ARM("<compiler inertiagrouprange='5 0'/>") },
	{ "xml", "<mujoco>\n\n<worldbody>\n<body name='b'><joint name='j' limited='true'/>\n<geom name='g' "
			 "size='1'/><site name='s'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n\n<worldbody>\n<body name='b'><joint name='j' armature='-9'/>\n<geom name='g' "
			 "size='1'/><site name='s'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n\n<worldbody>\n<body name='b'><joint name='j' frictionloss='-9'/>\n<geom name='g' "
			 "size='1'/><site name='s'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n\n<worldbody>\n<body name='b'><joint name='j' axis='0 0 0'/>\n<geom name='g' "
			 "size='1'/><site name='s'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n\n<worldbody>\n<body name='b'><joint name='j' axis='1e-200 0 0'/>\n<geom name='g' "
			 "size='1'/><site name='s'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n\n<worldbody>\n<body name='b'><joint name='j' axis='1e200 0 0'/>\n<geom name='g' "
			 "size='1'/><site name='s'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n\n<worldbody>\n<body name='b'><joint name='j' type='Hinge'/>\n<geom name='g' "
			 "size='1'/><site name='s'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco>\n\n<worldbody>\n<body name='b'><joint name='j' stiffness='nan'/>\n<geom name='g' "
			 "size='1'/><site name='s'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<body><freejoint/><geom size='1'/>\n<body><freejoint/><geom "
			 "size='1'/></body></body></worldbody></mujoco>" },
	{ "xml",
	  "<mujoco><worldbody>\n<body>\n<freejoint/><freejoint/><geom size='1'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<body><freejoint/>\n<inertial pos='0 0 0' mass='1' diaginertia='1 1 "
			 "9'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<body><freejoint/>\n<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 5 5 "
			 "5'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<body><freejoint/>\n<inertial pos='0 0 0'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<body><freejoint/>\n<inertial pos='nan 0 0' mass='1' diaginertia='1 1 "
			 "1'/></body></worldbody></mujoco>" },
	{ "xml", "<mujoco><worldbody>\n<body name='m'><freejoint/>\n<site/></body></worldbody></mujoco>" },
	{ "xml",
	  "<mujoco><worldbody>\n<body mocap='true'><joint/>\n<geom size='1'/></body></worldbody></mujoco>" },
	{ "xml", ARM("<contact>\n<pair geom1='g' geom2='nope'/></contact>") },
	{ "xml", ARM("<contact>\n<pair geom1='g' geom2='g'/></contact>") },
	{ "xml", ARM("<contact>\n<exclude body1='b'/></contact>") },
	{ "xml", ARM("<custom>\n<numeric name='knuckle.nope' data='1'/></custom>") },
	{ "xml", ARM("<custom>\n<numeric name='knuckle.dt' data='nan'/></custom>") },
	{ "xml", ARM("<custom>\n<numeric name='knuckle.joint_capacity' data='1e18'/></custom>") },
	{ "xml", BALL("<geom name='g' size='1'/>\n<geom type='plane' size='1 1 1'/>") },
	{ "urdf", "<robot name='r'>\n<link name='a'/><link name='b'/>\n<joint name='j' type='fixed'><parent "
			  "link='a'/><child link='b'/></joint>\n<joint name='k' type='fixed'><parent link='b'/><child "
			  "link='a'/></joint></robot>" },
	{ "urdf", "<robot name='r'>\n<link name='a'/><link name='b'/><link name='c'/>\n<joint name='j' "
			  "type='fixed'><parent link='a'/><child link='c'/></joint>\n<joint name='k' "
			  "type='fixed'><parent link='b'/><child link='c'/></joint></robot>" },
	{ "urdf", "<robot name='r'>\n</robot>" },
	{ "urdf", "<robot name='r'>\n<link name='a'/>\n<link name='b'/>\n<joint name='j' type='fixed'><origin "
			  "xyz='0 0'/><parent link='a'/><child link='b'/></joint>\n</robot>" },
	{ "urdf", "<robot name='r'>\n<link name='a'/>\n<link name='b'/>\n<joint name='j' type='fixed'><origin "
			  "rpy='0 0 nan'/><parent link='a'/><child link='b'/></joint>\n</robot>" },
	{ "urdf", "<robot name='r'>\n<link name='a'/>\n\n<joint name='j' type='fixed'><parent link='a'/><child "
			  "link='a'/></joint>\n</robot>" },
	{ "urdf", "<robot name='r'>\n<link name='a'><collision><geometry>\n<mesh "
			  "filename='package://../../../etc/passwd'/></geometry></collision></link></robot>" },
	{ "urdf", "<robot name='r'>\n<link name='a'><collision><geometry>\n<mesh "
			  "filename='http://127.0.0.1/x.stl'/></geometry></collision></link></robot>" },
	{ "urdf", "<robot name='r'>\n<link name='a'><inertial><mass value='1'/>\n<inertia ixx='1' iyy='1' "
			  "izz='5' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>" },
};

#undef BALL
#undef ARM
