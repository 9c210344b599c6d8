#pragma once
// Paths, files and folders of the machine, by blocking calls. For new code: flow/file/async_file.h.
//
//     platform::createDirectory("data/logs");                       // with its parents
//     atomicReplace(joinPath("data", "state"), text);               // the old text or the new one, also after a crash
//     for (std::string const& name : platform::listFiles("data/logs", ".json"))
//         use(readFileBytes(joinPath("data/logs", name), 1 << 20)); // throws file_too_large above 1 MiB
//
// Unless a comment says otherwise, a call throws io_error if the disk fails or is read-only, and platform_error for
// other errors. Under simulation, these are the machine's files too.

#include "../flow.h"
#include "platform_system.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <pwd.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace flow::compat {

[[noreturn]] inline void throwFileError(int number) {
    if (number == EIO || number == EROFS)
        throw io_error();
    throw platform_error();
}
inline void throwIfFailed(std::error_code const& error) {
    if (error)
        throwFileError(error.value());
}

struct FileCloser {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, FileCloser>;

/// Returns the names of the files of type `type` in the directory; none if the directory cannot be read.
inline std::vector<std::string> namesIn(std::string const& directory, std::filesystem::file_type type) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator each(directory, error), end; !error && each != end;
         each.increment(error)) {
        std::error_code gone; // set if the file was deleted meanwhile, or is a broken link
        if (each->status(gone).type() == type)
            names.push_back(each->path().filename());
    }
    return names;
}

} // namespace flow::compat

// ---------------------------------------------------------------------------------------------------------------------
// Paths

/// Joins two paths with one separator.
inline std::string joinPath(std::string const& directory, std::string const& filename) {
    std::size_t begin = std::min(filename.find_first_not_of('/'), filename.size());
    return directory.substr(0, directory.find_last_not_of('/') + 1) + "/" + filename.substr(begin);
}

/// Removes `.`, double separators, and each `..` with the name before it. Reads no file. An empty result becomes ".".
inline std::string cleanPath(std::string const& path) {
    bool isAbsolute = path.starts_with('/');
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin < path.size();) {
        std::size_t end = std::min(path.find('/', begin), path.size());
        std::string_view part = std::string_view(path).substr(begin, end - begin);
        begin = end + 1;
        if (part.empty() || part == ".")
            continue;
        bool isUp = part == "..";
        if (isUp && !parts.empty() && parts.back() != "..")
            parts.pop_back();
        else if (!isUp || !isAbsolute)
            parts.push_back(part);
    }
    std::string clean = isAbsolute ? "/" : "";
    for (std::size_t i = 0; i < parts.size(); ++i)
        clean.append(i == 0 ? "" : "/").append(parts[i]);
    return clean.empty() ? "." : clean;
}

/// Removes the last part of the path, and leaves a separator: "/a/b//" gives "/a/", "/a" gives "/", "a" gives "".
inline std::string popPath(std::string const& path) {
    std::size_t lastOfName = path.find_last_not_of('/');
    std::size_t separator = lastOfName == std::string::npos ? lastOfName : path.find_last_of('/', lastOfName);
    if (separator == std::string::npos)
        return path.starts_with('/') ? "/" : "";
    return path.substr(0, path.find_last_not_of('/', separator) + 1) + "/";
}

namespace platform {

inline std::string getWorkingDirectory() {
    std::error_code error;
    std::filesystem::path directory = std::filesystem::current_path(error);
    flow::compat::throwIfFailed(error);
    return directory;
}

} // namespace platform

inline bool fileExists(std::string const& filename) {
    return flow::compat::OpenFile(std::fopen(filename.c_str(), "rbe")) != nullptr;
}

/// Returns the absolute path. Follows links before `..`. Without `resolveLinks`, reads no links, and leaves a path that
/// begins with `~` as it is. Throws platform_error for an empty path, or if the file must exist and does not.
inline std::string abspath(std::string const& path, bool resolveLinks = true, bool mustExist = false) {
    if (path.empty())
        throw flow::platform_error();
    if (!resolveLinks) {
        bool isAbsolute = path.front() == '/' || path.front() == '~';
        std::string clean = cleanPath(isAbsolute ? path : joinPath(platform::getWorkingDirectory(), path));
        if (mustExist && !fileExists(clean))
            flow::compat::throwFileError(errno);
        return clean;
    }
    if (std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free); real)
        return real.get();
    int number = errno;
    std::string parent = popPath(path), name = path.substr(std::min(parent.size(), path.size()));
    bool isHome = parent.empty() && name.starts_with('~');
    if (number != ENOENT || mustExist || isHome)
        flow::compat::throwFileError(number);
    return cleanPath(joinPath(abspath(parent.empty() ? "." : parent), name));
}
/// Returns the folder of the abspath(), with a separator at its end.
inline std::string parentDirectory(std::string const& path, bool resolveLinks = true, bool mustExist = false) {
    return popPath(abspath(path, resolveLinks, mustExist));
}
/// Returns the last part of the abspath().
inline std::string basename(std::string const& filename) {
    std::string path = abspath(filename);
    return path.substr(path.find_last_of('/') + 1);
}
/// Returns the home folder on the machine, also under simulation. Throws platform_error if the user has none.
inline std::string getUserHomeDirectory() {
    if (char const* home = std::getenv("HOME")) // nondeterminism: by contract this is the machine's value
        return home;
    passwd const* user = ::getpwuid(::getuid());
    if (!user)
        throw flow::platform_error();
    return user->pw_dir;
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

inline bool directoryExists(std::string const& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error);
}
/// Returns the size of the file; 0 if it does not exist.
inline std::int64_t fileSize(std::string const& filename) {
    struct ::stat found;
    return ::stat(filename.c_str(), &found) == 0 ? found.st_size : 0;
}
/// Returns the time of the file's last change, in seconds since 1970; 0 if it does not exist.
inline std::time_t fileModifiedTime(std::string const& filename) {
    struct ::stat found;
    return ::stat(filename.c_str(), &found) == 0 ? found.st_mtime : 0;
}
/// Returns false if there was no such file.
inline bool deleteFile(std::string const& filename) {
    if (::unlink(filename.c_str()) == 0)
        return true;
    if (errno != ENOENT)
        flow::compat::throwFileError(errno);
    return false;
}
/// Renames a file, and replaces any file `toPath`. Throws io_error.
inline void renameFile(std::string const& fromPath, std::string const& toPath) {
    if (::rename(fromPath.c_str(), toPath.c_str()) != 0)
        throw flow::io_error();
}

/// Reads the first bytes of the file, and returns their number. Throws file_not_readable.
inline std::size_t readFileBytes(std::string const& filename, std::uint8_t* buffer, std::size_t length) {
    flow::compat::OpenFile file(std::fopen(filename.c_str(), "rbe"));
    std::size_t count = file ? std::fread(buffer, 1, length, file.get()) : 0;
    if (!file || std::ferror(file.get()))
        throw flow::file_not_readable();
    return count;
}
/// Reads the whole file. Throws file_not_readable, and file_too_large if it has more than `maxSize` bytes.
inline std::string readFileBytes(std::string const& filename, std::size_t maxSize) {
    flow::compat::OpenFile file(std::fopen(filename.c_str(), "rbe"));
    struct ::stat found;
    if (!file || ::fstat(::fileno(file.get()), &found) != 0)
        throw flow::file_not_readable();
    auto size = static_cast<std::size_t>(found.st_size);
    if (size > maxSize)
        throw flow::file_too_large();
    std::string bytes(size, '\0');
    if (std::fread(bytes.data(), 1, size, file.get()) != size)
        throw flow::file_not_readable();
    return bytes;
}
/// Throws file_not_writable.
inline void writeFileBytes(std::string const& filename, std::uint8_t const* data, std::size_t count,
                           bool append = false) {
    flow::compat::OpenFile file(std::fopen(filename.c_str(), append ? "abe" : "wbe"));
    if (!file || std::fwrite(data, 1, count, file.get()) != count || std::fflush(file.get()) != 0)
        throw flow::file_not_writable();
}
inline void writeFile(std::string const& filename, std::string const& content) {
    writeFileBytes(filename, reinterpret_cast<std::uint8_t const*>(content.data()), content.size());
}

/// Replaces the content, and keeps the owner and the mode. If the program or the machine stops at any time, the file
/// has all of the old content or all of the new. Throws io_error; then the file is unchanged.
inline void atomicReplace(std::string const& path, std::string const& content, [[maybe_unused]] bool textmode = true) {
    std::string name = flow::nondeterministicRandom()->randomUniqueID().toString() + ".tmp";
    std::string temporary = joinPath(parentDirectory(path), name);
    flow::compat::OpenFile file(std::fopen(temporary.c_str(), "wbxe"));
    if (!file)
        throw flow::io_error();
    auto keepsAttributes = [&] {
        struct ::stat old;
        if (::stat(path.c_str(), &old) != 0)
            return errno == ENOENT;
        int number = ::fileno(file.get());
        return ::fchown(number, old.st_uid, old.st_gid) == 0 && ::fchmod(number, old.st_mode & 07777) == 0;
    };
    bool isWritten =
        keepsAttributes() && std::fwrite(content.data(), 1, content.size(), file.get()) == content.size() &&
        std::fflush(file.get()) == 0 && ::fsync(::fileno(file.get())) == 0 && std::fclose(file.release()) == 0;
    if (!isWritten || ::rename(temporary.c_str(), path.c_str()) != 0) {
        (void)::unlink(temporary.c_str());
        throw flow::io_error();
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Folders

namespace platform {

using ::getUserHomeDirectory;

/// Makes the directory and its parents. Returns false if it existed. Throws file_not_writable without permission.
inline bool createDirectory(std::string const& directory) {
    std::error_code error;
    bool isNew = std::filesystem::create_directories(cleanPath(directory), error);
    if (error == std::errc::permission_denied)
        throw flow::file_not_writable();
    flow::compat::throwIfFailed(error);
    return isNew;
}
/// Returns the sorted names of the files in the directory that end in `extension`; none without this directory.
inline std::vector<std::string> listFiles(std::string const& directory, std::string const& extension = "") {
    auto names = flow::compat::namesIn(directory, std::filesystem::file_type::regular);
    std::erase_if(names, [&](std::string const& name) { return !name.ends_with(extension); });
    std::sort(names.begin(), names.end());
    return names;
}
/// Returns the sorted names of the directories in a directory, with "." and "..".
inline std::vector<std::string> listDirectories(std::string const& directory) {
    auto names = flow::compat::namesIn(directory, std::filesystem::file_type::directory);
    if (directoryExists(directory))
        names.insert(names.end(), {".", ".."});
    std::sort(names.begin(), names.end());
    return names;
}
/// Appends to `out` the paths of the files in the directory `path` and below it.
inline void findFilesRecursively(std::string const& path, std::vector<std::string>& out) {
    for (std::string const& name : listFiles(path))
        out.push_back(joinPath(path, name));
    for (std::string const& name : listDirectories(path))
        if (name != "." && name != "..")
            findFilesRecursively(joinPath(path, name), out);
}
/// Deletes a directory with its content. Returns the number of deleted files and directories; 0 if it did not exist.
inline int eraseDirectoryRecursive(std::string const& directory) {
    std::error_code error;
    std::uintmax_t count = std::filesystem::remove_all(directory, error);
    flow::compat::throwIfFailed(error);
    return static_cast<int>(count);
}

/// A new file, which the destructor deletes.
class TmpFile {
public:
    TmpFile() : TmpFile(directoryOfAll()) {}
    /// Throws io_error.
    explicit TmpFile(std::string const& directory, std::string const& prefix = "fdbtmp")
        : filename_(joinPath(removeWhitespace(directory), prefix + "-XXXXXX")) {
        int file = ::mkstemp(filename_.data());
        if (file < 0)
            throw flow::io_error();
        ::close(file);
    }
    TmpFile(TmpFile const&) = delete;
    TmpFile& operator=(TmpFile const&) = delete;
    ~TmpFile() { (void)::unlink(filename_.c_str()); }

    /// Reads the first bytes, and returns their number.
    std::size_t read(std::uint8_t* buffer, std::size_t length) { return readFileBytes(filename_, buffer, length); }
    void write(std::uint8_t const* data, std::size_t count) { writeFileBytes(filename_, data, count); }
    void append(std::uint8_t const* data, std::size_t count) { writeFileBytes(filename_, data, count, true); }
    /// Returns false if the file did not exist.
    bool destroyFile() { return deleteFile(filename_); }
    std::string getFileName() const { return filename_; }

private:
    static std::string directoryOfAll() {
        std::error_code error;
        std::filesystem::path path = std::filesystem::temp_directory_path(error);
        if (error)
            throw flow::io_error();
        return path;
    }

    std::string filename_;
};

} // namespace platform
