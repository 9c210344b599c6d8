// The keyword `loop`, which Flow's headers leave defined for text outside of actors. No include guard, because
// unactorcompiler.h undefines `loop`.

#undef loop
#define loop while (true)
