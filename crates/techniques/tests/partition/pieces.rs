//! Random C programs put together from pieces, each of which is one way in which C lets inputs meet: string functions, tables of
//! functions and pointers, jumps, state kept between calls, sizes and places that inputs say, ways to end.
//!
//! In a piece `V` stands for a value, `C` for a condition, `S` for another piece, `N` for a small number and `K` for a number
//! that no other piece of the program has.

use crate::programs::Dice;

/// Needed once before the programs of a file.
pub const HEADER: &str = r#"
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void colt_input(void *at, unsigned long size, const char *name);
int colt_range(int low, int high, const char *name);
void colt_assume(int holds);
void colt_assert(int holds);
typedef unsigned char u8;
struct node { int v; struct node *next; };
struct header { u8 kind, length; uint16_t sum; };
struct packed { unsigned low : 3, mid : 7; int high : 6; };
union view { uint32_t word; u8 byte[4]; uint16_t half[2]; };
static int same(int v) { return v; }
static int odd(int v) { return v & 1 ? v + 2 : 0; }
static int small(int v) { if (v > 5) return -1; return v; }
static int (*const functions[3])(int) = { same, odd, small };
static int order(const void *a, const void *b) { return *(const u8 *)a - *(const u8 *)b; }
static int depth(int n, const u8 *p) { return n == 0 ? 0 : (*p == 3) + depth(n - 1, p + 1); }
static int total(int n, ...) {
    va_list list;
    int sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum += va_arg(list, int);
    va_end(list);
    return sum;
}
static struct header make(u8 kind, u8 length) {
    struct header h = { kind, length, 0 };
    if (kind == 2)
        h.sum = length;
    return h;
}
static int valid(const struct header *h) {
    if (h->kind > 3)
        return 0;
    if (h->length == h->kind)
        return 0;
    return 1;
}
static int counter(int add) {
    static int n;
    if (add)
        n++;
    return n;
}
struct all {
    u8 a, b, c, d, t[4];
    int x, y, z, *r, table[4];
    char s[4], copy[8];
    u8 *heap;
    int size;
    struct node *list;
    struct header h;
    struct packed bits;
    union view u;
    int (*f)(int);
    jmp_buf jump;
    int can;
};
"#;

const VALUES: &[&str] = &[
    "m->a",
    "m->b",
    "m->c",
    "m->d",
    "m->a",
    "m->b",
    "m->c",
    "m->d",
    "m->x",
    "m->y",
    "m->z",
    "*m->r",
    "m->t[1]",
    "m->t[m->a & 3]",
    "m->table[m->b & 3]",
    "m->table[2]",
    "(int)strlen(m->s)",
    "m->copy[1]",
    "m->heap[0]",
    "m->h.kind",
    "m->h.sum",
    "(int)m->bits.mid",
    "m->bits.high",
    "m->u.byte[2]",
    "m->u.half[0]",
    "(int)m->u.word",
    "m->f(m->d & 7)",
    "(m->c > 3 ? m->x : m->d)",
    "counter(0)",
    "(m->list ? m->list->v : 0)",
    "m->size",
    "total(m->a & 1, m->b, 1)",
    "functions[m->c % 3](m->x & 7)",
    "depth(3, m->t)",
];

const PIECES: &[&str] = &[
    "m->x = V;",
    "m->y = V;",
    "m->z += N;",
    "*m->r = V;",
    "m->r = C ? &m->x : &m->y;",
    "if (C) m->r = &m->table[N & 3];",
    "if (C) { S }",
    "if (C) { S } else { S }",
    "if (C) { S S }",
    "if (C) m->x = K;",
    "if (C) { m->y = K; }",
    "if (C && C) m->z = K;",
    "if (C || C) { S } else m->z = K;",
    "switch (V & 3) { case 0: S case 1: m->y++; break; case 2: S break; default: m->z = K; }",
    "for (int iK = 0; iK < (V & 3); iK++) { if (C) break; m->x++; S }",
    "for (int iK = 0; iK < 3; iK++) { if (m->t[iK] == N) continue; m->y++; if (C) break; }",
    "{ int nK = 0; do { nK++; if (V == nK) break; } while (nK < (V & 3)); if (nK == 2) m->z = K; }",
    "m->t[V & 3] = N;",
    "m->table[V & 3] = V;",
    "memcpy(m->copy, m->s, V & 3);",
    "memset(m->t, N, V & 3);",
    "memmove(m->t + 1, m->t, V & 3);",
    "strcpy(m->copy, m->s);",
    "if (strlen(m->copy) < 4) strcat(m->copy, m->s);",
    "strncpy(m->copy, m->s, V & 7);",
    "if (strcmp(m->s, m->copy) == 0) m->x = K;",
    "if (strcmp(m->s, \"ab\") == 0) { S }",
    "if (memcmp(m->t, m->s, 2) == 0) m->y = K;",
    "{ char *pK = strchr(m->s, V & 127); if (pK && pK - m->s == 1) m->z = K; }",
    "{ u8 *pK = memchr(m->t, N, 4); if (pK) *pK = V; }",
    "m->s[V & 1] = N;",
    "if (C) m->s[1] = 0;",
    "if (C) { m->heap = realloc(m->heap, 8); m->heap[5] = N; m->size = 8; }",
    "if (C) { free(m->heap); m->heap = malloc(4); memset(m->heap, N, 4); m->size = 4; }",
    "if (C) m->heap[V & 7] = N;",
    "if (C) free(m->heap);",
    "{ int nK = V & 3; u8 *pK = calloc(nK + 1, 1); pK[nK] = 1; if (pK[0] == 1) m->x = K; free(pK); }",
    "{ int nK = (V & 3) + 1; u8 aK[nK]; memset(aK, 0, nK); aK[V & 3] = 1; m->y = aK[0]; }",
    "if (C) { struct node *nK = malloc(sizeof *nK); nK->v = V; nK->next = m->list; m->list = nK; }",
    "if (m->list && C) { struct node *nK = m->list; m->list = nK->next; free(nK); }",
    "for (struct node *nK = m->list; nK; nK = nK->next) if (nK->v == N) m->z = K;",
    "m->h = make(V, N);",
    "m->h.length = V;",
    "if (!valid(&m->h)) m->x = K; else { S }",
    "if (valid(&m->h)) { S }",
    "m->bits.mid = V;",
    "m->bits.high = V;",
    "m->u.byte[N & 3] = V;",
    "m->u.half[V & 1] = N;",
    "m->f = functions[V % 3];",
    "if (C) m->f = odd;",
    "if (C) m->f = 0;",
    "m->y = m->f ? m->f(V & 7) : K;",
    "counter(C);",
    "if (counter(C) == 2) m->x = K;",
    "{ u8 wK; colt_input(&wK, 1, \"wK\"); if (wK == N) m->x = K; else if (C) m->y = wK; }",
    "if (C) { u8 wK = 0; colt_input(&wK, 1, \"wK\"); m->z = wK; }",
    "{ int wK = colt_range(0, 4, \"wK\"); if (wK == 2 && C) m->x = K; }",
    "qsort(m->t, 3, 1, order);",
    "if (C) errno = N; if (errno == N) m->y = K;",
    "{ int eK = (int)V; if (__atomic_compare_exchange_n(&m->x, &eK, N, 0, 5, 5)) m->z = K; }",
    "{ int oK; if (__builtin_add_overflow(V, 0x7ffffff0, &oK)) m->x = K; else m->y = oK & 7; }",
    "if (isdigit(V & 127)) { S }",
    "if (C) exit(N);",
    "if (C) { m->x = K; exit(m->y & 3); }",
    "if (C) abort();",
    "colt_assume(!(C));",
    "colt_assert(!(C));",
    "colt_assert(!(C && C));",
    "if (setjmp(m->jump) == 0) { m->can = 1; P_jump(m, V); m->x++; } else { m->y = K; } m->can = 0;",
    "if (C) { if (setjmp(m->jump)) { m->z = K; m->can = 0; } else { m->can = 1; P_jump(m, V); m->can = 0; } }",
    "m->y = P_guarded(m, V);",
    "P_work(m);",
    "m->x = P_search(m, V);",
    "{ int nK = 0; aK: nK++; if (nK < 3 && C) goto aK; if (nK == 2) m->y = K; }",
    "if (C) goto outK; S outK:;",
];

const FUNCTIONS: &[&str] = &[
    "static void P_jump(struct all *m, int v) { if (v == N && m->can) longjmp(m->jump, N + 1); if (C) longjmp(m->jump, 1); m->z = v; }",
    "static int P_guarded(struct all *m, int v) { if (C) return N; if (v < N) { m->x = K; return 7; } S return v; }",
    "static void P_work(struct all *m) { if (C) return; S if (C) return; m->y = K; S }",
    "static int P_search(struct all *m, int v) { for (int i = 0; i < 4; i++) { if (m->t[i] == v) return i; if (C) m->z++; } return -1; }",
];

/// A program whose entry is `p_entry`, `p` being the prefix.
pub fn program(seed: u64, prefix: &str) -> String {
    let mut writer = Writer { dice: Dice(seed ^ 0x9e1c_0000), p: prefix, n_unique: 0, left: 0, in_entry: false };
    let mut text = String::new();
    for function in FUNCTIONS {
        writer.left = 3;
        text += &writer.fill(function);
        text.push('\n');
    }
    writer.in_entry = true;
    text += &writer.fill(
        "int P_entry(void) {\n    struct all all = { 0 }, *m = &all;\n    m->heap = calloc(4, 1);\n    m->r = &m->z;\n    m->f = same;\n    m->size = 4;\n",
    );
    for input in ["a", "b", "c", "d"] {
        text += &format!("    colt_input(&m->{input}, 1, \"{input}\");\n");
    }
    text += match writer.dice.below(3) {
        0 => "    colt_input(m->s, 2, \"s\");\n",
        1 => "    colt_input(m->t, 2, \"t\");\n",
        _ => "    strcpy(m->s, \"ab\");\n",
    };
    writer.left = 12;
    for _ in 0..6 {
        let piece = writer.piece();
        text += &format!("    {piece}\n");
    }
    text += &writer.fill("    if (C) m->x = K; if (C && m->x == N) m->y = K;\n");
    let end = match writer.dice.below(4) {
        0 => "    exit(m->x == m->y);\n}\n",
        1 => "    if (C) abort(); exit(0);\n}\n",
        _ => "    return m->x == m->y;\n}\n",
    };
    text += &writer.fill(end);
    text
}

struct Writer<'p> {
    dice: Dice,
    p: &'p str,
    n_unique: u64,
    /// Pieces the function may still get.
    left: u64,
    in_entry: bool,
}

impl Writer<'_> {
    fn piece(&mut self) -> String {
        if self.left == 0 {
            return ";".to_string();
        }
        self.left -= 1;
        loop {
            let piece = self.dice.pick(PIECES);
            if self.in_entry || !piece.contains("P_") {
                return self.fill(piece);
            }
        }
    }

    fn condition(&mut self) -> String {
        let (one, two, n) = (self.dice.pick(VALUES), self.dice.pick(VALUES), self.dice.below(7));
        match self.dice.below(6) {
            0..3 => format!("{one} == {n}"),
            3 => format!("{one} > {n}"),
            4 => format!("{one} != {n}"),
            _ => format!("{one} == {two}"),
        }
    }

    /// The piece with its holes filled; all `K` of a piece are the same number.
    fn fill(&mut self, piece: &str) -> String {
        self.n_unique += 1;
        let unique = 100 + self.n_unique;
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let chars: Vec<char> = piece.chars().collect();
        let mut text = String::new();
        for (idx, c) in chars.iter().enumerate() {
            let (before, after) = (idx.checked_sub(1).map(|idx| chars[idx]), chars.get(idx + 1).copied());
            let alone = !is_part(before) && !is_part(after) && after != Some('_');
            match c {
                'V' if alone => text += self.dice.pick(VALUES),
                'N' if alone => text += &self.dice.below(6).to_string(),
                'C' if alone => text += &self.condition(),
                'S' if alone => text += &self.piece(),
                'K' if !is_part(after) => text += &unique.to_string(),
                'P' if after == Some('_') && !is_part(before) => text += self.p,
                other => text.push(*other),
            }
        }
        text
    }
}
