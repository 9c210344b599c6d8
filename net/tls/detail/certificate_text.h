#pragma once
// textOfName, describeCertificate: certificates as text.
//
//     textOfName(X509_get_subject_name(certificate));   // CN=server,O=Example
//     describeCertificate(certificate);                 // the certificate CN=server is for DNS:one.example,
//     DNS:two.example

#include <string>

struct X509_name_st;
struct x509_st;

namespace flow::net {

/// Returns the whole name, as in RFC 2253. Control bytes and bytes above 127 are escaped.
std::string textOfName(X509_name_st const* name);

/// Returns the subject, and the names for which a client accepts the certificate. Each of the two texts is cut after
/// about 150 bytes, and has no control bytes, because the other side may send any certificate.
std::string describeCertificate(x509_st const* certificate);

} // namespace flow::net
