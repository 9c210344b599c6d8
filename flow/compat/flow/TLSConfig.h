#pragma once
// TLSConfig under the old header name: the parameter of newNet2(). Empty, because these headers have no connections.

class TLSConfig {};
