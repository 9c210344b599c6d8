#pragma once
// TLSConfig under the old header name: what newNet2() takes. Connections are not part of these headers, so it is empty.

class TLSConfig {};
