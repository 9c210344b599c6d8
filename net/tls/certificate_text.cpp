#include "net/tls/detail/certificate_text.h"

#include "flow/base/format.h"

#include <memory>
#include <new>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

namespace flow::net {
namespace {

constexpr std::size_t kMost = 150;

/// Returns the text that `print` writes into a BIO.
template <class Print>
std::string printed(Print print) {
    std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), &BIO_free);
    if (!memory)
        throw std::bad_alloc();
    print(memory.get());
    char* text = nullptr;
    long size = BIO_get_mem_data(memory.get(), &text);
    return std::string(text, static_cast<std::size_t>(size));
}

std::string escaped(std::string const& text) {
    std::string out;
    for (char c : text)
        out += c >= ' ' && c <= '~' ? std::string(1, c) : format("\\x%02X", static_cast<unsigned char>(c));
    return out;
}

std::string cut(std::string text) {
    return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

std::string namesOf(X509 const* certificate) {
    void* found = X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr);
    ERR_clear_error(); // drops the errors of an invalid extension
    std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(static_cast<GENERAL_NAMES*>(found),
                                                                        &GENERAL_NAMES_free);
    std::string text;
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()) && text.size() <= kMost; ++i) {
        GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
        std::string shown = printed([&](BIO* out) { GENERAL_NAME_print(out, name); });
        text.append(text.empty() ? "" : ", ").append(escaped(shown));
    }
    return text.empty() ? "no name" : cut(std::move(text));
}

} // namespace

std::string textOfName(X509_NAME const* name) {
    return printed([&](BIO* out) { X509_NAME_print_ex(out, name, 0, XN_FLAG_RFC2253); });
}

std::string describeCertificate(X509 const* certificate) {
    std::string subject = cut(textOfName(X509_get_subject_name(certificate)));
    return "the certificate " + (subject.empty() ? "" : subject + " ") + "is for " + namesOf(certificate);
}

} // namespace flow::net
