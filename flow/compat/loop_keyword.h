// The keyword `loop`, which Flow's headers leave defined for text outside of actors. No include guard, since
// unactorcompiler.h undefines it.

#undef loop
#define loop while (true)
