#pragma once
// A directory that the destructor of its object removes, with all its files.
//
//     TemporaryDirectory here;
//     write(here.path() + "/file");

#include <cstdlib>
#include <filesystem>
#include <string>

namespace flow::test {

class TemporaryDirectory {
public:
    TemporaryDirectory() : path_((std::filesystem::temp_directory_path() / "millrace-XXXXXX").string()) {
        if (!::mkdtemp(path_.data()))
            std::abort();
    }
    TemporaryDirectory(TemporaryDirectory const&) = delete;
    ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

    std::string const& path() const { return path_; }

private:
    std::string path_;
};

} // namespace flow::test
