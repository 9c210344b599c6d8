#pragma once
// FLOW_BOOLEAN_PARAM under the old header name: a type for one boolean parameter, so that calls are readable.
//
//     FLOW_BOOLEAN_PARAM(Compressed);
//     void write(File& file, Compressed compressed);
//     write(file, Compressed::True);

#define FLOW_BOOLEAN_PARAM(Name)                                                                                       \
    class Name {                                                                                                       \
    public:                                                                                                            \
        explicit constexpr Name(bool value) : value_(value) {}                                                         \
        constexpr operator bool() const {                                                                              \
            return value_;                                                                                             \
        }                                                                                                              \
        constexpr void set(bool value) {                                                                               \
            value_ = value;                                                                                            \
        }                                                                                                              \
        static Name const True, False;                                                                                 \
                                                                                                                       \
    private:                                                                                                           \
        bool value_;                                                                                                   \
    };                                                                                                                 \
    inline constexpr Name Name::True = Name(true);                                                                     \
    inline constexpr Name Name::False = Name(false)

// Older names. The last macro does nothing.
#define FDB_BOOLEAN_PARAM(Name) FLOW_BOOLEAN_PARAM(Name)
#define FDB_DECLARE_BOOLEAN_PARAM(Name) FLOW_BOOLEAN_PARAM(Name)
#define FDB_DEFINE_BOOLEAN_PARAM(Name) static_assert(true)
