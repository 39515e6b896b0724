//! Everything clang emits for C is translated: each program must pass the verifier without a gap, promoted and not.

mod common;

use common::{gaps, load_with};
use frontend::Promote;

/// Translates `text` for 64-bit programs, promoted and not.
fn translates(text: &str) {
    for promote in [Promote::On, Promote::Off] {
        let program = load_with(text, |sources| sources.promote = promote).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(gaps(&program), Vec::<String>::new());
    }
}

fn translates_32(text: &str) {
    let adjust = |sources: &mut frontend::Sources| sources.cflags.push("-m32".to_string());
    let program = load_with(text, adjust).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(program.module.target.pointer_bytes, 4);
    assert_eq!(gaps(&program), Vec::<String>::new());
}

macro_rules! feature {
    ($($name:ident: $text:literal;)*) => {$(
        #[test]
        fn $name() {
            translates($text);
        }
    )*};
}

feature! {
    integers_of_every_width: "
        __int128 wide(__int128 a, unsigned __int128 b) { return a * b / 3 + ((__int128)1 << 100); }
        _BitInt(24) odd(_BitInt(24) x) { return x * 3; }
        _BitInt(97) odder(_BitInt(97) x) { return x - 1; }
        short narrow(signed char a, unsigned short b) { return a % (b + 1) ^ (a >> 3); }
        int main(void) { return wide(1, 2) + odd(3) + odder(4) + narrow(1, 2); }";
    wide_bit_fields: "
        struct s { unsigned long a : 60; unsigned long b : 61; signed c : 30; } __attribute__((packed));
        struct s global = { 1, 2, -3 };
        int main(void) { global.b = global.a + 1; global.c -= 5; return global.b + global.c; }";
    bit_fields: "
        struct s { unsigned a : 3; int b : 7; unsigned long c : 40; _Bool d : 1; int : 0; short e; };
        struct s global = { 5, -3, 77, 1, 9 };
        int main(void) { struct s *p = &global; p->a = 5; p->b = -3; p->c++; p->d = !p->d; return p->a + p->b; }";
    aggregates_by_value: "
        struct big { long a, b, c; }; struct floats { float a, b, c; }; struct small { char c; short s; };
        struct mixed { double d; int i; }; union u { int i; float f; char c[8]; };
        struct big f(struct big b) { b.a++; return b; }
        struct floats g(struct floats x) { x.a += x.b; return x; }
        struct small h(struct small x) { return x; }
        struct mixed k(struct mixed x, union u y) { x.i += y.i; return x; }
        int main(void) {
            struct big b = {1, 2, 3}; struct floats x = {1}; struct small s = {1}; struct mixed m = {1};
            union u y = { .f = 2.5f };
            return f(b).a + g(x).a + h(s).c + k(m, y).i;
        }";
    nested_and_packed: "
        struct in { char c; int i; } __attribute__((packed));
        struct out { struct in a[3]; struct { struct in x; union { long l; char s[12]; }; }; };
        struct out global = { .a = { [1] = { 'x', 7 } }, .s = \"hello\" };
        int main(void) { return global.a[1].i + global.x.c + global.s[2]; }";
    arrays_and_vla: "
        #include <alloca.h>
        int vla(int n) { int a[n][n]; for (int i = 0; i < n; i++) a[i][n - 1] = i; return a[n - 1][n - 1] + sizeof a; }
        int matrix[3][4];
        int main(void) { char *p = alloca(vla(3)); p[0] = matrix[1][2]; return p[0] + (&matrix[2][0])[-1]; }";
    initialisers: "
        int target(int x) { return x; } struct node { int v; struct node *next; int (*f)(int); } nodes[2] =
            { { 1, &nodes[1], target }, { 2, nodes, 0 } };
        struct { char pad; long double ld; __int128 w; short *p; float fs[3]; _Float16 h; double d; } g =
            { 1, 3.25L, -7, (short *)&g + 3, {1.5f, -2}, 2, 1e300 };
        const char *names[] = { \"a\", \"bb\", 0, [5] = \"z\" }; long address = (long)&g + 4; int common_one;
        static const unsigned short shorts[] = { 1, 2, 65535 }; char *inside = \"hello\" + 1;
        int main(void) { return nodes[0].next->v + shorts[1] + names[1][0] + (address != 0) + common_one + inside[0]; }";
    switches: "
        int main(int argc, char **argv) {
            switch (argc) { case 1: return 4; case -5: return 7; case 10 ... 12: argc++; break; default: return 1; }
            switch ((long long)argc) { case 1LL << 40: return 2; } switch ((char)argc) { case 'a': return 3; }
            return argc;
        }";
    computed_goto: "
        int run(int x) {
            static void *table[] = { &&a, &&b }; static const int offsets[] = { &&a - &&a, &&b - &&a };
            if (x > 5) goto *(&&a + offsets[1]);
            goto *table[x];
            a: return 1; b: return 2;
        }
        int main(void) { return run(1); }";
    variadic: "
        #include <stdarg.h>
        typedef struct { float a, b, c; } floats; typedef struct { long a, b, c; } big;
        int sum(int n, ...) {
            va_list ap, aq; va_start(ap, n); va_copy(aq, ap); int s = 0;
            for (int i = 0; i < n; i++) s += va_arg(ap, int);
            double d = va_arg(aq, double); floats z = va_arg(aq, floats); big b = va_arg(aq, big);
            long double l = va_arg(aq, long double); va_end(ap); va_end(aq); return s + d + z.a + b.c + l;
        }
        int main(void) { floats z = {1, 2, 3}; big b = {1, 2, 3}; return sum(2, 1, 2, 3.5, z, b, 2.0L); }";
    indirect_calls: "
        static int one(int x) { return x + 1; } static int two(int x) { return x + 2; }
        int (*table[])(int) = { one, two };
        int call(int (*f)(int), int x) { return f(x) + (f == one) + (f == (void *)-1); }
        int main(int argc, char **argv) { return call(table[argc & 1], argc) + ((long (*)(long))one)(3); }";
    overflow_and_bits: "
        #include <stdint.h>
        int main(int a, char **argv) {
            int r; unsigned long s; if (__builtin_add_overflow(a, a, &r) || __builtin_mul_overflow(a, 7ul, &s)) return -1;
            if (__builtin_sub_overflow(a, 3u, &r)) return -2;
            unsigned u = a;
            return __builtin_popcount(r) + __builtin_clz(r | 1) + __builtin_ctzll(a | 1) + __builtin_bswap32(u)
                + __builtin_bswap16(u) + __builtin_bitreverse32(u) + __builtin_rotateleft32(u, 3)
                + __builtin_rotateright64(s, 9) + __builtin_elementwise_add_sat(u, 5u)
                + __builtin_elementwise_sub_sat(a, 5) + __builtin_elementwise_max(a, 4) + __builtin_ffs(a)
                + __builtin_parity(u) + __builtin_abs(a);
        }";
    builtins: "
        #include <stddef.h>
        int main(int a, char **argv) {
            char buf[8]; __builtin_memset(buf, 0, sizeof buf); __builtin_memcpy(buf, argv, 4); __builtin_prefetch(buf);
            __builtin_memmove(buf + 1, buf, 4); if (__builtin_expect(a == 3, 1)) __builtin_trap();
            if (a == 9) __builtin_unreachable(); __builtin_assume(a != 11);
            return __builtin_constant_p(a) + __builtin_object_size(buf, 0) + (__builtin_frame_address(0) != 0)
                + (__builtin_return_address(0) != 0) + __builtin_offsetof(struct { int x, y; }, y);
        }";
    floats: "
        #include <math.h>
        double f(double x, float y, long double z) {
            if (isnan(x) || isinf(y) || !isfinite(z) || isnormal(x) || signbit(y)) return -x;
            return fabs(x) + floor(y) + sqrtl(z) + (x > y ? (unsigned)x : (long long)y) + __builtin_fma(x, y, x)
                + fmod(x, 2) + x * y + z + __builtin_copysign(x, y) + lrint(x) + fmax(x, y);
        }
        _Float16 half(_Float16 a) { return a + 1; }
        float mixed(int i, unsigned long u, __int128 w) { return i + u * 1.0f + w; }
        int main(void) { return f(1, 2, 3) + half(2) + mixed(1, 2, 3); }";
    floating_environment: "
        #pragma STDC FENV_ACCESS ON
        double f(double a, float b, int c, unsigned long d) {
            return a < b ? a + b * c - d / a : a == b ? (int)a + (float)a : (unsigned)a + __builtin_sqrt(a) + -b;
        }
        int main(void) { return f(1, 2, 3, 4); }";
    complex_numbers: "
        #include <complex.h>
        double complex product(double complex a, float complex b) { return a * b + 1; }
        int main(void) { return creal(product(1 + 2 * I, 3)); }";
    vectors: "
        typedef float v4 __attribute__((vector_size(16))); typedef int i4 __attribute__((vector_size(16)));
        typedef char c16 __attribute__((vector_size(16))); typedef long l2 __attribute__((vector_size(16)));
        v4 f(v4 a, v4 b) { return a * b + a / b; }
        i4 g(i4 a, i4 b) { i4 c = a < b; c[2] = 5; return (c & a) + __builtin_shufflevector(a, b, 0, 5, 2, 7) % b; }
        int h(i4 a, int k) { a[k] = 7; return a[k + 1] + __builtin_reduce_add(a) + __builtin_reduce_max(a); }
        c16 cast(l2 a) { return (c16)a + (c16)(i4)a; }
        int main(void) { i4 a = {1, 2, 3, 4}; v4 b = {1}; return h(g(a, a), 1) + f(b, b)[0] + cast((l2)a)[3]; }";
    atomics: "
        #include <stdatomic.h>
        _Atomic int counter; atomic_flag flag; _Atomic long double huge_one;
        int main(void) {
            int plain = 3, expected = 3; atomic_fetch_add(&counter, 2); counter |= 4; atomic_thread_fence(5);
            __atomic_compare_exchange_n(&plain, &expected, 4, 0, 5, 5); __atomic_fetch_nand(&plain, 1, 5);
            __sync_fetch_and_max(&plain, 9); __sync_lock_test_and_set(&plain, 2);
            return atomic_flag_test_and_set(&flag) + counter + plain;
        }";
    jumps: "
        #include <setjmp.h>
        jmp_buf env;
        int main(int x, char **argv) { int y = 1; if (setjmp(env)) return y; y = x; longjmp(env, 1); }";
    empty_assembly: "
        int main(int x, char **argv) {
            __asm__ volatile(\"\" : \"+r\"(x) :: \"memory\"); __asm__ volatile(\"\" ::: \"memory\");
            __asm__ volatile(\"\" : \"+m\"(x)); return x;
        }";
    linkage: "
        extern int maybe(void) __attribute__((weak)); __thread int local = 4;
        static int impl(int x) { return x + 1; } int other(int) __attribute__((alias(\"impl\")));
        static void *resolve(void) { return impl; } int chosen(int) __attribute__((ifunc(\"resolve\")));
        static inline int inlined(int x) { return x * 2; }
        int main(void) { return (maybe ? maybe() : 3) + local + other(1) + chosen(2) + inlined(3); }";
    loops_with_crossing_values: "
        int main(int n, char **argv) {
            int a = 0, b = 1, c = 2; while (n-- > 0) { int t = a; a = b; b = c; c = t; }
            do { int t = a; a = b; b = t; if (t > 5) continue; c++; } while (c < 9); return a * 100 + b * 10 + c;
        }";
    old_style: "
        int f(a, b) int a; char b; { return a + b; } int g(); int main() { return f(1, 2) + g(3, 4.0); }
        int g(x, y) int x; double y; { return x + y; }";
    booleans: "
        #include <stdbool.h>
        bool f(bool a, unsigned char *p) { bool *q = (bool *)p; *q = a; return !*q && a; }
        int main(void) { unsigned char c = 3; return f(1, &c) + (_Bool)4; }";
    library_calls: "
        #include <stdio.h>
        #include <string.h>
        #include <stdlib.h>
        #include <ctype.h>
        int main(int argc, char **argv) {
            char *d = strdup(argv[0]); if (strcmp(d, \"abc\") == 0 || isalpha(d[0])) abort(); free(d);
            return printf(\"%d\\n\", atoi(argv[0])) + (int)strlen(d) + toupper(d[1]);
        }";
}

#[test]
fn thirty_two_bits() {
    translates_32(
        "#include <stdarg.h>
        #include <string.h>
        struct s { char c; double d; long long l; }; struct s copy(struct s x) { x.d += 1; return x; }
        int sum(int n, ...) {
            va_list ap; va_start(ap, n); int r = va_arg(ap, int) + va_arg(ap, double) + va_arg(ap, struct s).l;
            va_end(ap); return r;
        }
        int at(int *p, long long i) { return p[i]; }
        int main(int argc, char **argv) {
            struct s x = {1, 2, 3}; long l = (long)argv; void *p = (void *)(unsigned long long)l;
            return copy(x).d + sum(1, 2, 3.0, x) + at(&argc, argc) + (p == argv) + (int)strlen(argv[0]);
        }",
    );
}

#[test]
fn assembly_is_a_named_gap() {
    let text = "int main(void) { __asm__ volatile(\"hlt\"); return 0; }";
    let program = load_with(text, |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(gaps(&program), ["inline assembly `hlt`"]);
}

#[test]
fn the_processor_is_asked_by_an_intrinsic() {
    let text = "#include <cpuid.h>
        int main(void) {
            unsigned a, b, c, d;
            if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 1;
            __asm__ volatile(\"cpuid\" : \"=a\"(a), \"=b\"(b), \"=c\"(c), \"=d\"(d) : \"0\"(1));
            __asm__ volatile(\"xgetbv\" : \"=a\"(a), \"=d\"(d) : \"c\"(0));
            return a + d;
        }";
    let program = load_with(text, |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert!(gaps(&program).is_empty(), "{:?}", gaps(&program));
    // Other exchanges, and answers that go to memory, are none of these.
    let text =
        "int main(void) { int y; __asm__(\"xchgq %%rcx, %q0; cpuid; xchgq %%rcx, %q0\" : \"=r\"(y)); return y; }";
    let program = load_with(text, |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(gaps(&program).len(), 1);
}

#[test]
fn unknown_intrinsics_are_named_gaps() {
    let text =
        "__attribute__((target(\"rdrnd\"))) int main(void) { unsigned x; return __builtin_ia32_rdrand32_step(&x); }";
    let program = load_with(text, |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(gaps(&program), ["the compiler intrinsic `llvm.x86.rdrand.32`"]);
}

#[test]
fn huge_integers_are_named_gaps() {
    let text = "_BitInt(200) f(_BitInt(200) x) { return x * 3; } int main(void) { return f(2) != 6; }";
    let program = load_with(text, |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert!(gaps(&program).contains(&"arithmetic on integers of 200 bits".to_string()), "{:?}", gaps(&program));
}
