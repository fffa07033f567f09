# Toolchain for WebAssembly: Debian's clang with wasi-libc.
# Packages: clang lld llvm wasi-libc libclang-rt-14-dev-wasm32
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_C_FLAGS_INIT "-msimd128")
# what is made is a static library, so nothing needs to link while configuring
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
