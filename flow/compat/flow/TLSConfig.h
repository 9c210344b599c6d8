#pragma once
// TLSConfig under the old header name: the parameter of newNet2(). These headers have no connections, so it is empty.

class TLSConfig {};
