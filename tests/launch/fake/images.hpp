// What the fake driver has for images: modules and libraries that are loaded from memory and files.
#pragma once

#include <map>
#include <string>

namespace fake {

// Its functions, by the names that cuGetProcAddress is asked for.
const std::map<std::string, void*>& images_by_name();

} // namespace fake
