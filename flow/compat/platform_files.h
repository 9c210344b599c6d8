#pragma once
// Paths, files and folders of the machine, by calls that block: flow/Platform.h of this folder brings them. New code
// uses std::filesystem, or files() (flow/file/async_file.h).
//
//     platform::createDirectory("data/logs");                       // with its parents
//     atomicReplace(joinPath("data", "state"), text);               // all of the old text is there, or all of the new
//     for (std::string const& name : platform::listFiles("data/logs", ".json"))
//         use(readFileBytes(joinPath("data/logs", name), 1 << 20)); // throws file_too_large above a MiB
//
// Unless stated otherwise a call throws io_error if the disk fails or is read-only, and otherwise platform_error. Under
// simulation these are the machine's files too.

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

/// The names in the directory that lead to a file of that type; none if the directory cannot be read.
inline std::vector<std::string> namesIn(std::string const& directory, std::filesystem::file_type type) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator each(directory, error), end; !error && each != end;
         each.increment(error)) {
        std::error_code gone; // if it is deleted meanwhile, or is a link that leads nowhere
        if (each->status(gone).type() == type)
            names.push_back(each->path().filename());
    }
    return names;
}

} // namespace flow::compat

// ---------------------------------------------------------------------------------------------------------------------
// Paths

/// Joins the two with one separator.
inline std::string joinPath(std::string const& directory, std::string const& filename) {
    std::size_t begin = std::min(filename.find_first_not_of('/'), filename.size());
    return directory.substr(0, directory.find_last_not_of('/') + 1) + "/" + filename.substr(begin);
}

/// Removes `.`, double separators, and each `..` with the name in front. Reads no file. "." if nothing is left.
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

/// Removes the last part of the path, and leaves one separator at its end: "/a/b//" gives "/a/". "" for a relative path
/// of one part, "/" for an absolute one.
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

/// Follows links before `..`. Without `resolveLinks` it uses the text alone, and a path that begins with `~` stays as
/// it is. If a file must exist and does not, or for an empty path, throws platform_error.
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
/// The folder of the abspath(); it ends with a separator.
inline std::string parentDirectory(std::string const& path, bool resolveLinks = true, bool mustExist = false) {
    return popPath(abspath(path, resolveLinks, mustExist));
}
/// The last part of the abspath().
inline std::string basename(std::string const& filename) {
    std::string path = abspath(filename);
    return path.substr(path.find_last_of('/') + 1);
}
/// The machine's, under a simulation, too. Throws platform_error if the user has none.
inline std::string getUserHomeDirectory() {
    if (char const* home = std::getenv("HOME")) // nondeterminism: it asks for the machine's by name
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
/// The size of the file; 0 if it does not exist.
inline std::int64_t fileSize(std::string const& filename) {
    struct ::stat found;
    return ::stat(filename.c_str(), &found) == 0 ? found.st_size : 0;
}
/// The time of its last change, in seconds since 1970; 0 if it does not exist.
inline std::time_t fileModifiedTime(std::string const& filename) {
    struct ::stat found;
    return ::stat(filename.c_str(), &found) == 0 ? found.st_mtime : 0;
}
/// False if there was no such file.
inline bool deleteFile(std::string const& filename) {
    if (::unlink(filename.c_str()) == 0)
        return true;
    if (errno != ENOENT)
        flow::compat::throwFileError(errno);
    return false;
}
/// Replaces any file with the name `toPath`. Throws io_error.
inline void renameFile(std::string const& fromPath, std::string const& toPath) {
    if (::rename(fromPath.c_str(), toPath.c_str()) != 0)
        throw flow::io_error();
}

/// Reads the first bytes of the file; returns their number. Throws file_not_readable.
inline std::size_t readFileBytes(std::string const& filename, std::uint8_t* buffer, std::size_t length) {
    flow::compat::OpenFile file(std::fopen(filename.c_str(), "rbe"));
    std::size_t count = file ? std::fread(buffer, 1, length, file.get()) : 0;
    if (!file || std::ferror(file.get()))
        throw flow::file_not_readable();
    return count;
}
/// Throws file_not_readable, and file_too_large for a file of more than maxSize bytes.
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

/// If the program or the machine stops at any time, the file has all of the old content or all of the new. It keeps its
/// owner and its mode. Throws io_error; then the file is unchanged.
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

/// Makes the directory with its parents. False if it existed. Throws file_not_writable if the program has no right to
/// do so.
inline bool createDirectory(std::string const& directory) {
    std::error_code error;
    bool isNew = std::filesystem::create_directories(cleanPath(directory), error);
    if (error == std::errc::permission_denied)
        throw flow::file_not_writable();
    flow::compat::throwIfFailed(error);
    return isNew;
}
/// The names of the files in the directory that end in `extension`, sorted. None if there is no such directory.
inline std::vector<std::string> listFiles(std::string const& directory, std::string const& extension = "") {
    auto names = flow::compat::namesIn(directory, std::filesystem::file_type::regular);
    std::erase_if(names, [&](std::string const& name) { return !name.ends_with(extension); });
    std::sort(names.begin(), names.end());
    return names;
}
/// The names of the directories in a directory, sorted. "." and ".." are two of them.
inline std::vector<std::string> listDirectories(std::string const& directory) {
    auto names = flow::compat::namesIn(directory, std::filesystem::file_type::directory);
    if (directoryExists(directory))
        names.insert(names.end(), {".", ".."});
    std::sort(names.begin(), names.end());
    return names;
}
/// Appends the paths of the files in the directory and below it.
inline void findFilesRecursively(std::string const& path, std::vector<std::string>& out) {
    for (std::string const& name : listFiles(path))
        out.push_back(joinPath(path, name));
    for (std::string const& name : listDirectories(path))
        if (name != "." && name != "..")
            findFilesRecursively(joinPath(path, name), out);
}
/// The number of deleted files and directories, including `directory`; 0 if it did not exist.
inline int eraseDirectoryRecursive(std::string const& directory) {
    std::error_code error;
    std::uintmax_t count = std::filesystem::remove_all(directory, error);
    flow::compat::throwIfFailed(error);
    return static_cast<int>(count);
}

/// A new file, which is deleted with this object.
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

    /// Reads the first bytes; returns their number.
    std::size_t read(std::uint8_t* buffer, std::size_t length) { return readFileBytes(filename_, buffer, length); }
    /// Replaces the content.
    void write(std::uint8_t const* data, std::size_t count) { writeFileBytes(filename_, data, count); }
    void append(std::uint8_t const* data, std::size_t count) { writeFileBytes(filename_, data, count, true); }
    /// False if the file did not exist.
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
