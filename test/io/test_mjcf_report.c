// Errors: each kind of mistake gives its status, its line, and a sentence that helps. Nothing leaks on the way, also
// when memory runs out at any point.
#include "mjcf_test.h"

typedef struct Mistake {
	const char* text;
	knStatus status;
	int line;
	const char* says;
} Mistake;

// The mistake stands in line 3 of a body with a free joint; the body and the world are closed after it.
#define IN_BODY(content)                                                                                     \
	"<mujoco>\n<worldbody><body name='b'><freejoint/>\n" content                                             \
	"<geom size='1'/></body></worldbody></mujoco>"
#define IN_WORLD(content) "<mujoco><worldbody>\n\n" content "</worldbody></mujoco>"
#define AFTER(content)                                                                                       \
	"<mujoco><worldbody><body name='arm'><joint name='elbow'/><geom name='rod' size='1'/></body>"            \
	"<body name='leg'><joint name='knee' type='ball'/><geom name='shin' "                                    \
	"size='1'/></body></worldbody>\n\n" content "</mujoco>"
#define CUSTOM(content) AFTER("<custom>" content "</custom>")

static const Mistake mistakes[] = {
	// XML
	{ "", KN_BAD_DATA, 1, "malformed XML" },
	{ "not xml", KN_BAD_DATA, 1, "malformed XML" },
	{ "<mujoco>\n<worldbody>\n</mujoco>", KN_BAD_DATA, 3, "mismatched tag" },
	{ "<mujoco>\n\n<geom size='1' size='2'/></mujoco>", KN_BAD_DATA, 3, "duplicate attribute" },
	{ "<mujoco>\n<worldbody>\n", KN_BAD_DATA, 3, "no element found" },
	{ "<mujoco/>\n\n<mujoco/>", KN_BAD_DATA, 3, "junk after document element" },
	{ "<?xml version='1.0'?>\n\n<!DOCTYPE mujoco [<!ENTITY a 'b'>]>\n<mujoco/>", KN_BAD_DATA, 3, "DOCTYPE" },
	{ "<mujoco>\n\n&lol;</mujoco>", KN_BAD_DATA, 3, "undefined entity" },
	{ "\n\n<robot/>", KN_BAD_DATA, 3, "begins with <mujoco>" },

	// attributes
	{ IN_WORLD("<geom size='1x'/>"), KN_BAD_DATA, 3, "size: '1x' is not a finite number" },
	{ IN_WORLD("<geom size='nan'/>"), KN_BAD_DATA, 3, "'nan' is not a finite number" },
	{ IN_WORLD("<geom size='1e999'/>"), KN_BAD_DATA, 3, "not a finite number" },
	{ IN_WORLD("<geom size='1' pos='1 2'/>"), KN_BAD_DATA, 3, "pos has 2 numbers; it takes 3" },
	{ IN_WORLD("<geom size='1 2 3 4'/>"), KN_BAD_DATA, 3, "it takes 1 to 3" },
	{ IN_WORLD("<geom size='1' contype='1.5'/>"), KN_BAD_DATA, 3, "contype: '1.5' is not an integer" },
	{ IN_WORLD("<geom size='1' type='spere'/>"), KN_BAD_DATA, 3, "must be one of sphere, capsule" },
	{ IN_WORLD("<geom size='1' quat='1 0 0 0' euler='0 0 0'/>"), KN_BAD_DATA, 3, "two orientations" },
	{ IN_WORLD("<geom size='1' quat='0 0 0 0'/>"), KN_BAD_DATA, 3, "quat has no length" },
	{ IN_WORLD("<geom size='1' zaxis='0 0 0'/>"), KN_BAD_DATA, 3, "zaxis has no direction" },
	{ IN_WORLD("<geom size='1' xyaxes='1 0 0 2 0 0'/>"), KN_BAD_DATA, 3, "zero or parallel" },
	{ "<mujoco>\n\n<compiler eulerseq='xyw'/><worldbody><geom size='1' euler='1 2 3'/></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "eulerseq is 'xyw'" },
	{ "<mujoco>\n\n<compiler coordinate='global'/></mujoco>", KN_UNSUPPORTED, 3, "local coordinates" },
	{ "<mujoco>\n\n<option timestep='0'/></mujoco>", KN_BAD_DATA, 3, "timestep is 0" },

	// geoms
	{ IN_WORLD("<geom/>"), KN_BAD_DATA, 3, "size has 0 numbers; a sphere needs 1" },
	{ IN_WORLD("<geom type='box' size='1 2'/>"), KN_BAD_DATA, 3, "size has 2 numbers; a box needs 3" },
	{ IN_WORLD("<geom size='-1'/>"), KN_BAD_DATA, 3, "size is -1; it must be positive" },
	{ IN_WORLD("<geom type='capsule' size='1' fromto='1 1 1 1 1 1'/>"), KN_BAD_DATA, 3, "too close" },
	{ IN_WORLD("<geom size='1' fromto='1 1 1 2 2 2'/>"), KN_BAD_DATA, 3, "fromto is for capsules" },
	{ IN_WORLD("<geom type='box' size='1' pos='1 0 0' fromto='1 1 1 2 2 2'/>"), KN_BAD_DATA, 3,
	  "pos and fromto" },
	{ IN_WORLD("<geom type='mesh' size='1 1'/>"), KN_BAD_DATA, 3, "no mesh named ''" },
	{ IN_WORLD("<geom type='cylinder' size='1'/>"), KN_BAD_DATA, 3, "a cylinder needs 2" },
	{ IN_WORLD("<geom type='ellipsoid' size='1 1'/>"), KN_BAD_DATA, 3, "ellipsoid needs 3" },
	{ IN_BODY("<geom type='mesh' contype='0' conaffinity='0'/>"), KN_BAD_DATA, 3, "no mesh named ''" },
	{ IN_WORLD("<geom type='hfield' hfield='h'/>"), KN_BAD_DATA, 3, "no hfield named 'h'" },
	{ "<mujoco><asset>\n\n<hfield name='h' nrow='2' ncol='2' size='1 1 1 0'/></asset><worldbody><geom "
	  "type='hfield' hfield='h'/></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "four positive numbers" },
	{ "<mujoco><asset>\n\n<hfield name='h' nrow='90000' ncol='90000' size='1 1 1 "
	  "1'/></asset><worldbody><geom "
	  "type='hfield' hfield='h'/></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "90000 rows and 90000 columns" },
	{ "<mujoco><asset>\n\n<hfield name='h' nrow='2' ncol='2' size='1 1 1 1' elevation='1 2 3'/></asset>"
	  "<worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "elevation has 3 numbers; it needs 4" },
	{ IN_WORLD("<geom size='1' colour='red'/>"), KN_UNSUPPORTED, 3, "<geom> colour is not understood" },
	{ IN_WORLD("<geom size='1' fluff='1'/><geom size='1' fluff='1'/>"), KN_UNSUPPORTED, 3,
	  "and 1 more such" },
	{ IN_BODY("<geom type='plane' size='1 1 1'/>"), KN_BAD_DATA, 3, "infinite" },
	{ IN_WORLD("<geom size='1' condim='2'/>"), KN_BAD_DATA, 3, "condim is 2" },
	{ IN_WORLD("<geom size='1' friction='-1'/>"), KN_BAD_DATA, 3, "friction is -1" },
	{ IN_BODY("<geom size='1' mass='-2'/>"), KN_BAD_DATA, 3, "mass is -2" },
	{ IN_BODY("<geom size='1' density='-2'/>"), KN_BAD_DATA, 3, "density is -2" },
	{ IN_WORLD("<geom size='1' class='nope'/>"), KN_BAD_DATA, 3, "no default class 'nope'" },
	{ "<mujoco><worldbody>\n<geom name='a' size='1'/>\n<geom name='a' size='1'/></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "the name 'a' is taken, first in line 2" },

	// bodies
	{ "<mujoco><worldbody>\n\n<body name='b'><freejoint/></body></worldbody></mujoco>", KN_BAD_DATA, 3,
	  "its mass is 0" },
	{ "<mujoco><worldbody>\n\n<body name='b'><joint/><inertial pos='0 0 0' mass='-1' diaginertia='1 1 "
	  "1'/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "its mass is -1" },
	{ "<mujoco><worldbody>\n\n<body name='b'><joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 "
	  "5'/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "none may exceed the sum" },
	{ IN_BODY("<inertial mass='1'/>"), KN_BAD_DATA, 3, "diaginertia and fullinertia" },
	{ IN_BODY("<inertial mass='1' fullinertia='1 1 1 0 0 0' quat='1 0 0 0'/>"), KN_BAD_DATA, 3,
	  "takes no orientation" },
	{ "<mujoco><worldbody><body><joint/><inertial mass='1' diaginertia='1 1 "
	  "1'/>\n\n<inertial/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "already" },
	{ "<mujoco><worldbody>\n\n<inertial mass='1'/></worldbody></mujoco>", KN_BAD_DATA, 3,
	  "the world takes no <inertial>" },
	{ "<mujoco><worldbody>\n<body name='a'/>\n<body name='a'/></worldbody></mujoco>", KN_BAD_DATA, 3,
	  "first in line 2" },
	{ "<mujoco><worldbody>\n\n<body name='world'/></worldbody></mujoco>", KN_BAD_DATA, 3,
	  "'world' is taken" },
	{ "<mujoco><worldbody>\n\n<body childclass='nope'/></worldbody></mujoco>", KN_BAD_DATA, 3,
	  "no default class 'nope'" },
	{ "<mujoco>\n\n<include file='other.xml'/></mujoco>", KN_IO, 3, "cannot open 'other.xml'" },
	{ "<mujoco>\n\n<include file='../other.xml'/></mujoco>", KN_BAD_DATA, 3,
	  "leads out of the model's folder" },
	{ "<mujoco>\n\n<include file='/etc/passwd'/></mujoco>", KN_BAD_DATA, 3,
	  "leads out of the model's folder" },
	{ "<mujoco>\n\n<include file='a/../../b.xml'/></mujoco>", KN_BAD_DATA, 3, "leads out" },
	{ "<mujoco>\n\n<include file='file.xml'/></mujoco>", KN_BAD_DATA, 3, "includes itself" },
	{ "<mujoco>\n\n<include/></mujoco>", KN_BAD_DATA, 3, "names no file" },
	{ IN_WORLD("<attach model='m' prefix='p'/>"), KN_BAD_DATA, 3, "no <model> asset named 'm'" },
	{ IN_WORLD("<replicate/>"), KN_BAD_DATA, 3, "count must be positive" },
	{ IN_WORLD("<replicate count='x'/>"), KN_BAD_DATA, 3, "not an integer" },
	{ IN_WORLD("<replicate count='2' offset='1 2'/>"), KN_BAD_DATA, 3, "offset must be three numbers" },
	{ IN_WORLD("<replicate count='2000000000'><geom size='1'/></replicate>"), KN_LIMIT, 3,
	  "repeats more than" },
	{ IN_WORLD("<replicate count='100'><replicate count='100'><replicate count='1000'><geom size='1'/>"
			   "</replicate></replicate></replicate>"),
	  KN_LIMIT, 3, "repeats more than" },
	{ IN_WORLD("<replicate count='2'><geom size='-1'/></replicate>"), KN_BAD_DATA, 3, "must be positive" },

	// defaults
	{ "<mujoco><default>\n\n<default/></default></mujoco>", KN_BAD_DATA, 3, "must name its class" },
	{ "<mujoco><default>\n<default class='a'/>\n<default class='a'/></default></mujoco>", KN_BAD_DATA, 3,
	  "class 'a' is defined twice, first in line 2" },

	// joints
	{ IN_WORLD("<joint/>"), KN_BAD_DATA, 3, "the world takes no joints" },
	{ IN_BODY("<joint type='hinges'/>"), KN_BAD_DATA, 3, "must be one of free, ball, slide, hinge" },
	{ "<mujoco><worldbody><body>\n\n<joint axis='0 0 0'/><geom size='1'/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "axis has no direction" },
	{ "<mujoco><worldbody><body>\n\n<joint range='2 1'/><geom size='1'/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "exceeds the upper" },
	{ "<mujoco><worldbody><body>\n\n<joint limited='true'/><geom size='1'/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "limited but has no range" },
	{ "<mujoco><compiler autolimits='false'/><worldbody><body>\n\n<joint range='1 2'/><geom "
	  "size='1'/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "without autolimits" },
	{ "<mujoco><worldbody><body>\n\n<joint type='ball' range='1 2'/><geom "
	  "size='1'/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "range of a ball joint" },
	{ "<mujoco><worldbody><body>\n\n<joint damping='-1'/><geom size='1'/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "damping is -1" },
	{ "<mujoco><worldbody><body><body>\n\n<freejoint/><geom size='1'/></body></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "directly in <worldbody>" },
	{ "<mujoco><worldbody><body><joint/>\n\n<joint type='free'/><geom size='1'/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "only joint" },
	{ "<mujoco><worldbody><body>\n\n<joint armature='-9'/><geom size='1'/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "armature is -9" },
	{ "<mujoco><worldbody>\n\n<body name='b' mocap='true'><body><joint/><geom "
	  "size='1'/></body><joint/></body></worldbody></mujoco>",
	  KN_BAD_DATA, 3, "kinematic" },

	// equalities, exclusions, keyframes
	{ AFTER("<equality><connect body1='amr' anchor='0 0 0'/></equality>"), KN_BAD_DATA, 3,
	  "no body named 'amr'; did you mean 'arm'?" },
	{ AFTER("<equality><connect body1='arm'/></equality>"), KN_BAD_DATA, 3, "needs an anchor" },
	{ AFTER("<equality><weld body2='arm'/></equality>"), KN_BAD_DATA, 3, "needs body1" },
	{ AFTER("<contact><exclude body1='arm'/></contact>"), KN_BAD_DATA, 3, "needs body1 and body2" },
	{ AFTER("<contact><exclude body1='arm' body2='lag'/></contact>"), KN_BAD_DATA, 3, "did you mean 'leg'?" },
	{ AFTER("<keyframe><key name='k' qpos='1 2'/></keyframe><custom><text name='knuckle.keyframe' "
			"data='k'/></custom>"),
	  KN_BAD_DATA, 3, "qpos has 2 numbers; the model's joints take 5" },
	{ AFTER("<keyframe><key name='k' qvel='1'/></keyframe><custom><text name='knuckle.keyframe' "
			"data='k'/></custom>"),
	  KN_BAD_DATA, 3, "qvel has 1 numbers; the model's joints take 4" },
	{ AFTER("<keyframe><key name='home'/></keyframe><custom><text name='knuckle.keyframe' "
			"data='hom'/></custom>"),
	  KN_BAD_DATA, 3, "no keyframe named 'hom'; did you mean 'home'?" },
	{ AFTER("<keyframe><key name='k'/><key name='k'/></keyframe>"), KN_BAD_DATA, 3, "the name 'k' is taken" },

	// control
	{ AFTER("<actuator><motor/></actuator>"), KN_BAD_DATA, 3, "drives nothing" },
	{ AFTER("<actuator><motor joint='elbov'/></actuator>"), KN_BAD_DATA, 3, "did you mean 'elbow'?" },
	{ AFTER("<actuator><position joint='elbow' kp='-1'/></actuator>"), KN_BAD_DATA, 3,
	  "must not be negative" },
	{ AFTER("<actuator><motor joint='elbow' ctrlrange='2 1'/></actuator>"), KN_BAD_DATA, 3,
	  "exceeds the upper" },
	{ AFTER("<actuator><motor joint='knee'/></actuator>"), KN_UNSUPPORTED, 3, "on a ball or free joint" },
	{ AFTER("<actuator><muscle joint='elbow'/></actuator>"), KN_UNSUPPORTED, 3, "<muscle> without" },
	{ AFTER("<tendon><fixed><joint joint='knee' coef='1'/></fixed></tendon>"), KN_BAD_DATA, 3,
	  "hinges and slides" },
	{ AFTER("<tendon><spatial><site site='nowhere'/></spatial></tendon>"), KN_BAD_DATA, 3, "no site named" },
	{ AFTER("<tendon><fixed><joint joint='elbow'/></fixed></tendon>"), KN_BAD_DATA, 3, "has no coef" },
	{ AFTER("<tendon><fixed limited='true'><joint joint='elbow' coef='1'/></fixed></tendon>"), KN_BAD_DATA, 3,
	  "it is limited but has no range" },
	{ AFTER("<tendon><spatial><geom geom='rod'/></spatial></tendon>"), KN_BAD_DATA, 3,
	  "begin and end at a site" },
	{ AFTER("<tendon><spatial><geom geom='rot'/></spatial></tendon>"), KN_BAD_DATA, 3,
	  "no geom named 'rot'" },
	{ AFTER("<actuator><motor joint='elbow' ctrllimited='true'/></actuator>"), KN_BAD_DATA, 3,
	  "it is limited but has no ctrlrange" },
	{ AFTER("<actuator><motor joint='elbow' site='s'/></actuator>"), KN_BAD_DATA, 3,
	  "drives several things" },
	{ AFTER("<contact><pair geom1='rod' geom2='rod'/></contact>"), KN_BAD_DATA, 3, "names one geom twice" },
	{ AFTER("<contact><pair geom1='rod' geom2='shin' condim='2'/></contact>"), KN_BAD_DATA, 3, "condim" },
	{ AFTER("<keyframe><key mpos='0 0 0'/></keyframe>"), KN_BAD_DATA, 3, "mocap bodies take 0" },
	{ AFTER("<keyframe><key act='0'/></keyframe>"), KN_BAD_DATA, 3, "act has 1 numbers" },
	// what is not followed may still be wrong
	{ AFTER("<option integrator='Eulr'/>"), KN_BAD_DATA, 3, "must be one of Euler" },
	{ AFTER("<option iterations='many'/>"), KN_BAD_DATA, 3, "many" },
	{ AFTER("<option><flag energy='on'/></option>"), KN_BAD_DATA, 3, "must be one of disable" },
	{ AFTER("<default><geom solimp='0.9 nan'/></default>"), KN_BAD_DATA, 3, "nan" },
	{ AFTER("<default><geom rgba='1 2'/></default>"), KN_BAD_DATA, 3, "it takes 4" },
	// what would change the motion
	{ AFTER("<option density='1' wind='1 0 0'/>"), KN_UNSUPPORTED, 3, "wind" },
	{ AFTER("<option actuatorgroupdisable='1'/>"), KN_UNSUPPORTED, 3, "actuatorgroupdisable" },
	{ AFTER("<option><flag filterparent='disable'/></option>"), KN_UNSUPPORTED, 3, "filterparent" },
	{ AFTER("<sensor><gyro site='imu'/></sensor>"), KN_BAD_DATA, 3, "no site named 'imu'" },
	{ AFTER("<contact><pair geom1='rod' geom2='shim'/></contact>"), KN_BAD_DATA, 3, "no geom named 'shim'" },
	{ AFTER("<equality><joint joint1='elbow' joint2='knee'/></equality>"), KN_BAD_DATA, 3,
	  "hinges and slides" },

	// knuckle.*
	{ CUSTOM("<numeric name='knuckle.restitutoin' data='1'/>"), KN_BAD_DATA, 3,
	  "did you mean 'restitution'?" },
	{ CUSTOM("<numeric name='knuckle.restituton.rod' data='1'/>"), KN_BAD_DATA, 3,
	  "did you mean 'restitution'?" },
	{ CUSTOM("<numeric name='knuckle.restitution.rot' data='1'/>"), KN_BAD_DATA, 3,
	  "no geom named 'rot'; did you mean 'rod'?" },
	{ CUSTOM("<numeric name='knuckle.restitution' data='2'/>"), KN_BAD_DATA, 3, "between 0 and 1" },
	{ CUSTOM("<numeric name='knuckle.friction.rod' data='-2'/>"), KN_BAD_DATA, 3, "must not be negative" },
	{ CUSTOM("<numeric name='knuckle.restitution' data='1 2'/>"), KN_BAD_DATA, 3,
	  "data has 2 numbers; it takes 1" },
	{ CUSTOM("<numeric name='knuckle.restitution' data='x'/>"), KN_BAD_DATA, 3,
	  "'x' is not a finite number" },
	{ CUSTOM("<numeric name='knuckle.restitution'/>"), KN_BAD_DATA, 3, "it has no data" },
	{ CUSTOM("<text name='knuckle.restitution' data='1'/>"), KN_BAD_DATA, 3, "must be a <numeric>" },
	{ CUSTOM("<numeric name='knuckle.dt' data='1'/><numeric name='knuckle.dt' data='1'/>"), KN_BAD_DATA, 3,
	  "is taken" },
	{ CUSTOM("<numeric name='knuckle.dt' data='0'/>"), KN_BAD_DATA, 3, "must be positive" },
	{ CUSTOM("<numeric name='knuckle.dt.arm' data='1'/>"), KN_BAD_DATA, 3, "takes nothing after its name" },
	{ CUSTOM("<numeric name='knuckle.fast' data='1'/>"), KN_BAD_DATA, 3, "followed by a dot and a name" },
	{ CUSTOM("<text name='knuckle.combine.friction' data='maximum'/>"), KN_BAD_DATA, 3,
	  "one of min, average" },
	{ CUSTOM("<numeric name='knuckle.set.sweep' data='3'/>"), KN_BAD_DATA, 3, "did you mean 'sweeps'?" },
	{ CUSTOM("<numeric name='knuckle.set.sweeps' data='-3'/>"), KN_BAD_DATA, 3, "-3" },
	{ CUSTOM("<numeric name='knuckle.kinematic.arm' data='0 0 0 0 0 0'/>"), KN_BAD_DATA, 1, "kinematic" },
	{ CUSTOM("<numeric name='knuckle.kinematic.arms' data='0 0 0 0 0 0'/>"), KN_BAD_DATA, 3,
	  "did you mean 'arm'?" },
	{ CUSTOM("<numeric name='knuckle.fast.world' data='1'/>"), KN_BAD_DATA, 3,
	  "the world takes no such value" },
	{ CUSTOM("<numeric name='knuckle.limit.elbow' data='1 1'/>"), KN_BAD_DATA, 3,
	  "cone limits are for ball joints" },
	{ CUSTOM("<numeric name='knuckle.limit.kne' data='1 1'/>"), KN_BAD_DATA, 3, "did you mean 'knee'?" },
	{ CUSTOM("<text name='knuckle.filter.rod' data='1 2 3'/>"), KN_BAD_DATA, 3, "category, mask and group" },
	{ CUSTOM("<text name='knuckle.color.arm' data='red'/>"), KN_BAD_DATA, 3, "must be a colour" },
	{ CUSTOM("<text name='knuckle.order.bodies' data='0 0'/>"), KN_BAD_DATA, 3,
	  "each of the numbers 0 to 1 once" },

	// joints and compounds in one line
	{ CUSTOM("<text name='knuckle.loop.x' data=''/>"), KN_BAD_DATA, 3, "it is empty" },
	{ CUSTOM("<text name='knuckle.loop.x' data='hing child=arm'/>"), KN_BAD_DATA, 3,
	  "'hing' is no kind of joint" },
	{ CUSTOM("<text name='knuckle.loop.x' data='custom child=arm'/>"), KN_BAD_DATA, 3,
	  "'custom' is no kind of joint" },
	{ CUSTOM("<text name='knuckle.loop.x' data='child=arm'/>"), KN_BAD_DATA, 3, "must begin with the kind" },
	{ CUSTOM("<text name='knuckle.joint.elbow' data='hinge child=arm'/>"), KN_BAD_DATA, 3, "already" },
	{ CUSTOM("<text name='knuckle.joint.elbow' data='child=leg'/>"), KN_BAD_DATA, 3, "cannot be changed" },
	{ CUSTOM("<text name='knuckle.loop.x' data='hinge child=arn'/>"), KN_BAD_DATA, 3, "did you mean 'arm'?" },
	{ CUSTOM("<text name='knuckle.loop.x' data='hinge child=arm dampng=1'/>"), KN_BAD_DATA, 3,
	  "did you mean 'damping'?" },
	{ CUSTOM("<text name='knuckle.loop.x' data='hinge child=arm damping1=1'/>"), KN_BAD_DATA, 3,
	  "not that many axes" },
	{ CUSTOM("<text name='knuckle.loop.x' data=\"ball child=arm reach_twist='0.5 0 1'\"/>"), KN_BAD_DATA, 3,
	  "corner" },
	{ CUSTOM("<text name='knuckle.loop.x' data=\"ball child=arm reach_twist='1 0'\"/>"), KN_BAD_DATA, 3,
	  "corner, lower and upper" },
	{ CUSTOM("<text name='knuckle.loop.x' data=\"hinge child=arm reach_twist='1 0 1'\"/>"), KN_BAD_DATA, 3,
	  "is for ball joints" },
	{ CUSTOM("<text name='knuckle.loop.x' data='hinge child=arm limit=1'/>"), KN_BAD_DATA, 3,
	  "limit has 1 number" },
	{ CUSTOM("<text name='knuckle.joint.elbow' data=\"twist='1 1'\"/>"), KN_BAD_DATA, 3,
	  "twist is for ball joints" },
	{ CUSTOM("<text name='knuckle.loop.x' data=\"ball child=arm reach='1 1 0 1 0'\"/>"), KN_BAD_DATA, 3,
	  "reach takes the x, y and z" },
	{ CUSTOM("<text name='knuckle.loop.x' data=\"ball child=arm reach='1 1 0 1 0 -1 1 0 1'\"/>"), KN_BAD_DATA,
	  3, "go once around x" },
	{ CUSTOM("<text name='knuckle.loop.x' data=\"hinge child='arm\"/>"), KN_BAD_DATA, 3, "no closing quote" },
	{ CUSTOM("<text name='knuckle.loop.x' data=\"hinge child=arm motor='fast 1 2'\"/>"), KN_BAD_DATA, 3,
	  "is no motor" },
	{ CUSTOM("<text name='knuckle.loop.x' data=\"hinge child=arm frame_child='0 0 0 0 0 0 0'\"/>"),
	  KN_BAD_DATA, 3, "has no length" },
	{ CUSTOM("<text name='knuckle.loop.x' data='hinge child=arm parent=arm'/>"), KN_BAD_DATA, 3,
	  "to itself" },
	{ CUSTOM("<text name='knuckle.loop.x' data='hinge'/>"), KN_BAD_DATA, 3, "world" },
	{ CUSTOM("<text name='knuckle.compound.x' data=''/>"), KN_BAD_DATA, 3, "names no parts" },
	{ CUSTOM("<text name='knuckle.compound.x' data='parts=rodd'/>"), KN_BAD_DATA, 3, "did you mean 'rod'?" },
	{ CUSTOM("<text name='knuckle.compound.x' data=\"parts='rod rod'\"/>"), KN_BAD_DATA, 3,
	  "compound already" },
	{ CUSTOM("<text name='knuckle.compound.x' data=\"parts='rod shin'\"/>"), KN_BAD_DATA, 3, "another body" },
};

static void test_mistakes(void** state) {
	(void)state;
	for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
		const Mistake* mistake = &mistakes[i];
		knError error = { .status = KN_OK };
		knLoadReport report = { .count = 1 };
		knScene* scene =
			knMjcf_LoadMemory(mistake->text, strlen(mistake->text), "file.xml", NULL, &report, &error);
		char line[1024];
		knError_Format(&error, line, sizeof line);
		if (scene != NULL || error.status != mistake->status || error.line != mistake->line ||
			error.column < 1 || strcmp(error.file, "file.xml") != 0 || strstr(line, mistake->says) == NULL) {
			fail_msg("%s\n  gave: %s (%s)\n  expected in line %d: %s", mistake->text, line,
					 knStatus_Name(error.status), mistake->line, mistake->says);
		}
		// a report belongs to a scene
		assert_int_equal(report.count, 0);
		assert_null(report.lines);
	}
}

static void test_columns(void** state) {
	(void)state;
	knError error = { .status = KN_OK };
	static const char text[] = "<mujoco>\n  <worldbody><geom size='0'/></worldbody></mujoco>";
	assert_null(knMjcf_LoadMemory(text, strlen(text), "f", NULL, NULL, &error));
	assert_int_equal(error.line, 2);
	assert_int_equal(error.column, 14);
	assert_string_equal(error.element, "<geom>");
	// without anywhere to write, it is still refused
	assert_null(knMjcf_LoadMemory(text, strlen(text), NULL, NULL, NULL, NULL));
	assert_null(knMjcf_LoadMemory(NULL, 0, NULL, NULL, NULL, &error));
	assert_int_equal(error.status, KN_BAD_ARGUMENT);
}

// More than 64 different pairs of contype and conaffinity cannot be told apart; a million levels is deep enough.
static void test_limits(void** state) {
	(void)state;
	char text[8192] = "<mujoco><worldbody>";
	for (int i = 0; i < 65; ++i) {
		sprintf(text + strlen(text), "<geom size='1' contype='%d' conaffinity='1'/>", i);
	}
	strcat(text, "</worldbody></mujoco>");
	knError error = { .status = KN_OK };
	assert_null(knMjcf_LoadMemory(text, strlen(text), "f", NULL, NULL, &error));
	assert_int_equal(error.status, KN_LIMIT);

	const size_t levels = 1000001;
	char* deep = malloc(8 + 3 * levels);
	memcpy(deep, "<mujoco>", 8);
	for (size_t i = 0; i < levels; ++i) {
		memcpy(deep + 8 + 3 * i, "<a>", 3);
	}
	assert_null(knMjcf_LoadMemory(deep, 8 + 3 * levels, "f", NULL, NULL, &error));
	free(deep);
	assert_int_equal(error.status, KN_LIMIT);
	assert_non_null(strstr(error.message, "nested more than 1000000 deep"));
}

// --- memory ---

static const char* const rich =
	"<mujoco model='rich'><option integrator='RK4'/><default><default class='c'><geom "
	"size='0.1'/></default></default>"
	"<worldbody><geom type='plane' size='1 1 1'/>"
	"<body name='a' childclass='c'><joint name='j'/><geom name='g1'/><geom name='g2' pos='1 0 0'/>"
	" <body name='p' pos='0 0 1'><geom/><body name='b'><joint type='ball' name='k'/><geom "
	"mass='3'/></body></body></body>"
	"<body name='f'><freejoint/><inertial mass='1' diaginertia='1 1 1'/></body></worldbody>"
	"<equality><connect name='e' body1='b' body2='f' anchor='0 0 0'/></equality>"
	"<contact><exclude body1='a' body2='f'/></contact>"
	"<keyframe><key name='s' qpos='1 1 0 0 0 1 2 3 1 0 0 0'/></keyframe>"
	"<custom><text name='knuckle.keyframe' data='s'/><numeric name='knuckle.restitution.g1' data='0.5'/>"
	"<text name='knuckle.compound.two' data=\"parts='g1 g2'\"/>"
	"<text name='knuckle.loop.l' data=\"hinge parent='a' child='f' anchor='1 2 3'\"/>"
	"<text name='knuckle.order.bodies' data='1 0 2'/></custom></mujoco>";

// The allocator fails at its first call, its second, and so on: each time a clean refusal and nothing left over.
static void test_memory_runs_out(void** state) {
	(void)state;
	knTestMemory memory;
	const knAllocator allocator = testAllocator(&memory);
	const knMjcfOptions options = { .keyframe = NULL, .allocator = &allocator };
	bool loaded = false;
	for (int allowed = 0; !loaded; ++allowed) {
		assert_true(allowed < 10000);
		memory.calls = 0;
		memory.failAfter = allowed;
		knError error = { .status = KN_OK };
		knLoadReport report;
		knScene* scene = knMjcf_LoadMemory(rich, strlen(rich), "f", &options, &report, &error);
		loaded = scene != NULL;
		if (!loaded) {
			assert_int_equal(error.status, KN_NO_MEMORY);
			assert_int_equal(report.count, 0);
		}
		knScene_Destroy(scene);
		knLoadReport_Free(&report);
		assert_int_equal(memory.live, 0);
	}
	assert_true(memory.calls > 20);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_memory_runs_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
