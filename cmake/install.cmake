include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(heddle_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/heddle")
target_include_directories(heddle INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
install(DIRECTORY include/heddle DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/heddle")
install(TARGETS heddle EXPORT heddle-targets)
install(EXPORT heddle-targets NAMESPACE heddle:: DESTINATION "${heddle_cmake_dir}")

configure_package_config_file(cmake/heddle-config.cmake.in heddle-config.cmake
                              INSTALL_DESTINATION "${heddle_cmake_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(heddle-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES cmake/heddle-features.cmake "${PROJECT_BINARY_DIR}/heddle-config.cmake"
              "${PROJECT_BINARY_DIR}/heddle-config-version.cmake"
        DESTINATION "${heddle_cmake_dir}")
