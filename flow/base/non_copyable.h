#pragma once
// NonCopyable: base class of types that must be neither copied nor moved.
//
//     struct Connection : ReferenceCounted<Connection>, NonCopyable { ... };

namespace flow {

class NonCopyable {
public:
    NonCopyable(NonCopyable const&) = delete;
    NonCopyable& operator=(NonCopyable const&) = delete;

protected:
    NonCopyable() = default;
    ~NonCopyable() = default;
};

} // namespace flow
