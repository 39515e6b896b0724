//! Inline assembly of x86 in small pieces, as compilers' tests and headers have it: moves, arithmetic, rotations, the
//! stack as a place to put something for a moment, barriers, the time stamp. Each instruction becomes what it does.
//! Anything else, a jump or a flag that somebody reads, leaves the whole statement a named gap.
//!
//! Templates are LLVM's: `$0` and `${0:w}` are operands, `$$` is a dollar, registers are written with a percent sign.

use ir::{Arg, BinOp, BitOp, Call, Callee, CastOp, FloatCastOp, FloatKind, FloatMathOp, Inst, Intrinsic, Reg};
use rustc_hash::FxHashMap;

use super::body::{Body, Regs, Unsupported};
use super::instruction::float_kind;
use super::shape::{Scalar, ScalarKind};
use crate::llvm::Value;

/// Where a value is: a register by its number, or an operand that the compiler finds a register for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Spot {
    Register(usize),
    Operand(usize),
}

/// What an instruction names, and how wide, where that says so.
#[derive(Clone, Copy, Debug)]
enum Named {
    Spot(Spot, Option<u8>),
    Number(u64),
    /// Through the pointer in this register, so many bits where the operand says so.
    Memory(Reg),
    /// The top of the stack, which only barriers touch.
    StackTop,
}

#[derive(Clone, Copy)]
enum Operand {
    Spot(Spot, u8),
    Memory(Reg),
    Number(u64),
}

/// Families of registers: 64, 32, 16 and 8 bits.
const REGISTERS: &[[&str; 4]] = &[
    ["rax", "eax", "ax", "al"],
    ["rbx", "ebx", "bx", "bl"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["r8", "r8d", "r8w", "r8b"],
    ["r9", "r9d", "r9w", "r9b"],
    ["r10", "r10d", "r10w", "r10b"],
    ["r11", "r11d", "r11w", "r11b"],
];
const WIDTHS: [u8; 4] = [64, 32, 16, 8];
const AX: Spot = Spot::Register(0);
const CX: Spot = Spot::Register(2);
const DX: Spot = Spot::Register(3);

/// Instructions that do nothing a program could see.
const NOTHING: &[&str] = &["nop", "pause", "mfence", "lfence", "sfence", "lock", "rep", "cld"];

struct Run {
    operands: Vec<Operand>,
    values: FxHashMap<Spot, Reg>,
    pushed: Vec<Reg>,
}

impl Body<'_, '_> {
    /// Carries out a statement. `None`: it is none of those we know.
    pub(super) fn known_assembly(
        &mut self,
        inst: Value,
        code: &str,
        constraints: &str,
    ) -> Result<Option<()>, Unsupported> {
        if code.trim() == "fsqrt" {
            return self.float_root(inst, constraints);
        }
        if !self.is_all_known(code) {
            return Ok(None);
        }
        let Some((mut run, outputs)) = self.read_operands(inst, constraints)? else { return Ok(None) };
        // Nothing must be left half done: what cannot be carried out was sorted out above, by names.
        for statement in statements(code) {
            if self.step(&mut run, &statement).is_none() {
                return Ok(None);
            }
        }
        if !run.pushed.is_empty() {
            return Ok(None);
        }
        let shape = self.shape(inst)?;
        if shape.len() != outputs.len() {
            return Ok(None);
        }
        let mut regs = Vec::new();
        for (spot, scalar) in outputs.iter().zip(shape.iter()) {
            let reg = self.value_at(&mut run, *spot);
            regs.push(self.resize(reg, 64, scalar.bits));
        }
        self.bind(inst, Regs::from(regs));
        Ok(Some(()))
    }

    fn is_all_known(&self, code: &str) -> bool {
        !code.contains("$(") && statements(code).iter().all(|statement| operation(mnemonic(statement).0).is_some())
    }

    /// Square root on the processor's stack of floats, in its own precision.
    fn float_root(&mut self, inst: Value, constraints: &str) -> Result<Option<()>, Unsupported> {
        if !constraints.starts_with("={st},0,") && !constraints.starts_with("={st},0") {
            return Ok(None);
        }
        let scalar: Scalar = self.scalar_type(inst)?;
        let kind = float_kind(scalar)?;
        let a = self.scalar(inst.operand(0))?;
        let bits = FloatKind::Extended.bits();
        let widened = self.refloat(a, kind, FloatKind::Extended);
        let root = self.define(bits, |dst| Inst::FloatMath {
            op: FloatMathOp::Sqrt,
            kind: FloatKind::Extended,
            dst,
            a: widened,
            b: widened,
            c: widened,
        });
        let result = self.refloat(root, FloatKind::Extended, kind);
        self.bind_one(inst, result);
        Ok(Some(()))
    }

    fn refloat(&mut self, a: Reg, kind: FloatKind, to_kind: FloatKind) -> Reg {
        if kind == to_kind {
            return a;
        }
        let (from, to) = (kind.bits(), to_kind.bits());
        self.define(to, |dst| Inst::FloatCast { op: FloatCastOp::Resize, from, to, kind, to_kind, dst, a })
    }

    /// Operands by their numbers, the values they begin with, and where the results will be.
    fn read_operands(&mut self, inst: Value, constraints: &str) -> Result<Option<(Run, Vec<Spot>)>, Unsupported> {
        let mut run = Run { operands: Vec::new(), values: FxHashMap::default(), pushed: Vec::new() };
        let mut outputs = Vec::new();
        let listed: Vec<&str> =
            constraints.split(',').filter(|text| !text.starts_with('~') && !text.is_empty()).collect();
        let shape = self.shape(inst)?;
        let mut next_arg = 0;
        for (number, text) in listed.iter().enumerate() {
            let is_output = text.starts_with('=');
            let text = text.trim_start_matches(['=', '&', '+']);
            if text.contains('@') || text.contains('|') {
                return Ok(None);
            }
            if is_output && !text.starts_with('*') {
                let Some(scalar) = shape.get(outputs.len()).filter(|scalar| is_plain(**scalar)) else {
                    return Ok(None);
                };
                let Some(spot) = spot_of(text, number) else { return Ok(None) };
                outputs.push(spot);
                run.operands.push(Operand::Spot(spot, scalar.bits));
                continue;
            }
            let arg = inst.operand(next_arg);
            next_arg += 1;
            let scalar = self.scalar_type(arg)?;
            if !is_plain(scalar) {
                return Ok(None);
            }
            if text.starts_with('*') {
                let pointer = self.scalar(arg)?;
                run.operands.push(Operand::Memory(pointer));
                continue;
            }
            if let Some(number) =
                self.immediate(arg).filter(|_| text.chars().all(|c| matches!(c, 'i' | 'n' | 'I'..='O')))
            {
                run.operands.push(Operand::Number(number));
                continue;
            }
            let reg = self.scalar(arg)?;
            let value = self.resize(reg, scalar.bits, 64);
            let operand = match text.parse::<usize>() {
                Ok(tied) => match run.operands.get(tied) {
                    Some(Operand::Spot(spot, _)) => Operand::Spot(*spot, scalar.bits),
                    _ => return Ok(None),
                },
                Err(_) => match spot_of(text, number) {
                    Some(spot) => Operand::Spot(spot, scalar.bits),
                    None => return Ok(None),
                },
            };
            if let Operand::Spot(spot, _) = operand {
                run.values.insert(spot, value);
            }
            run.operands.push(operand);
        }
        Ok(Some((run, outputs)))
    }

    fn value_at(&mut self, run: &mut Run, spot: Spot) -> Reg {
        match run.values.get(&spot) {
            Some(reg) => *reg,
            None => {
                let reg = self.undefined(64);
                run.values.insert(spot, reg);
                reg
            }
        }
    }

    /// The low `bits` of what is named, as a value of that width.
    fn get(&mut self, run: &mut Run, named: Named, bits: u8) -> Option<Reg> {
        match named {
            Named::Number(number) => Some(self.number(bits, u128::from(number) & ((1 << bits) - 1))),
            Named::Spot(spot, _) => {
                let whole = self.value_at(run, spot);
                Some(self.resize(whole, 64, bits))
            }
            Named::Memory(addr) => Some(self.define(bits, |dst| Inst::Load { dst, bits, align: 1, addr })),
            Named::StackTop => None,
        }
    }

    /// As the processor does: 32 bits clear the upper half, fewer leave the rest.
    fn put(&mut self, run: &mut Run, named: Named, bits: u8, value: Reg) -> Option<()> {
        match named {
            Named::Spot(spot, _) => {
                let wide = self.resize(value, bits, 64);
                let whole = if bits >= 32 {
                    wide
                } else {
                    let old = self.value_at(run, spot);
                    let kept = self.bin_imm(BinOp::And, 64, old, u64::MAX << bits);
                    self.bin(BinOp::Or, 64, kept, wide)
                };
                run.values.insert(spot, whole);
            }
            Named::Memory(addr) => self.emit(Inst::Store { src: value, bits, align: 1, addr }),
            Named::Number(_) | Named::StackTop => return None,
        }
        Some(())
    }

    fn step(&mut self, run: &mut Run, statement: &str) -> Option<()> {
        let (name, rest) = mnemonic(statement);
        let (operation, suffix) = operation(name)?;
        let named: Vec<Named> = split_operands(rest).iter().map(|text| named(run, text)).collect::<Option<_>>()?;
        let width = |named: &Named| match named {
            Named::Spot(_, bits) => *bits,
            _ => None,
        };
        // The target comes last and says how wide, where the name of the instruction does not.
        let bits = suffix.or_else(|| named.iter().rev().find_map(width));
        match (operation, &named[..]) {
            ("", []) => Some(()),
            ("add" | "or", [Named::Number(0), Named::StackTop]) => Some(()),
            ("rdtsc", []) => {
                let stamp = self.fresh(64);
                let callee = Callee::Intrinsic(Intrinsic::TimeStamp);
                let results = vec![(stamp, 64)];
                self.emit_call(Call { callee, args: Vec::<Arg>::new(), results, n_fixed: u32::MAX, result_used: true });
                let low = self.bin_imm(BinOp::And, 64, stamp, u64::from(u32::MAX));
                let high = self.bin_imm(BinOp::LShr, 64, stamp, 32);
                run.values.insert(AX, low);
                run.values.insert(DX, high);
                Some(())
            }
            ("push", [from]) => {
                let value = self.get(run, *from, 64)?;
                run.pushed.push(value);
                Some(())
            }
            ("pop", [to]) => {
                let value = run.pushed.pop()?;
                self.put(run, *to, 64, value)
            }
            ("mov", [from, to]) => {
                let bits = bits?;
                let value = self.get(run, *from, bits)?;
                self.put(run, *to, bits, value)
            }
            ("xchg", [one, other]) => {
                let bits = bits?;
                let (a, b) = (self.get(run, *one, bits)?, self.get(run, *other, bits)?);
                self.put(run, *one, bits, b)?;
                self.put(run, *other, bits, a)
            }
            ("neg", [at]) => {
                let bits = bits?;
                let (zero, a) = (self.number(bits, 0), self.get(run, *at, bits)?);
                let value = self.bin(BinOp::Sub, bits, zero, a);
                self.put(run, *at, bits, value)
            }
            ("not" | "inc" | "dec", [at]) => {
                let bits = bits?;
                let a = self.get(run, *at, bits)?;
                let ones = u64::MAX >> (64 - bits);
                let value = match operation {
                    "not" => self.bin_imm(BinOp::Xor, bits, a, ones),
                    "inc" => self.bin_imm(BinOp::Add, bits, a, 1),
                    _ => self.bin_imm(BinOp::Add, bits, a, ones),
                };
                self.put(run, *at, bits, value)
            }
            ("bswap", [at]) => {
                let bits = bits.filter(|bits| *bits >= 32)?;
                let a = self.get(run, *at, bits)?;
                let value = self.define(bits, |dst| Inst::BitOp { op: BitOp::ByteSwap, bits, dst, a, b: a });
                self.put(run, *at, bits, value)
            }
            ("shl" | "sal" | "shr" | "sar" | "rol" | "ror", [at]) => {
                self.shift(run, operation, Named::Number(1), *at, bits?)
            }
            ("shl" | "sal" | "shr" | "sar" | "rol" | "ror", [by, at]) => self.shift(run, operation, *by, *at, bits?),
            (_, [from, to]) => {
                let op = match operation {
                    "add" => BinOp::Add,
                    "sub" => BinOp::Sub,
                    "and" => BinOp::And,
                    "or" => BinOp::Or,
                    "xor" => BinOp::Xor,
                    "imul" => BinOp::Mul,
                    _ => return None,
                };
                let bits = bits?;
                let (b, a) = (self.get(run, *from, bits)?, self.get(run, *to, bits)?);
                let value = self.bin(op, bits, a, b);
                self.put(run, *to, bits, value)
            }
            _ => None,
        }
    }

    /// Only the low bits of the amount count, as many as are needed for 32 or 64.
    fn shift(&mut self, run: &mut Run, operation: &str, by: Named, at: Named, bits: u8) -> Option<()> {
        if let Named::Spot(spot, _) = by
            && spot != CX
            && !matches!(spot, Spot::Operand(_))
        {
            return None;
        }
        let amount = self.get(run, by, 8)?;
        let amount = self.bin_imm(BinOp::And, 8, amount, if bits == 64 { 63 } else { 31 });
        let a = self.get(run, at, bits)?;
        if matches!(operation, "rol" | "ror") {
            let amount = self.resize(amount, 8, bits);
            let value = self.define(bits, |dst| match operation {
                "rol" => Inst::FunnelShl { bits, dst, hi: a, lo: a, amount },
                _ => Inst::FunnelShr { bits, dst, hi: a, lo: a, amount },
            });
            return self.put(run, at, bits, value);
        }
        let wide = match operation {
            "sar" if bits < 64 => self.define(64, |dst| Inst::Cast { op: CastOp::SExt, from: bits, to: 64, dst, a }),
            _ => self.resize(a, bits, 64),
        };
        let amount = self.resize(amount, 8, 64);
        let op = match operation {
            "shr" => BinOp::LShr,
            "sar" => BinOp::AShr,
            _ => BinOp::Shl,
        };
        let value = self.bin(op, 64, wide, amount);
        let value = self.resize(value, 64, bits);
        self.put(run, at, bits, value)
    }
}

fn is_plain(scalar: Scalar) -> bool {
    matches!(scalar.kind, ScalarKind::Int | ScalarKind::Pointer) && scalar.bits <= 64
}

/// `{ax}` is a register, `r` and the like leave the choice to the compiler.
fn spot_of(constraint: &str, number: usize) -> Option<Spot> {
    if let Some(name) = constraint.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        return register(name).map(|(spot, _)| spot);
    }
    let is_any =
        |c: char| matches!(c, 'r' | 'q' | 'Q' | 'R' | 'g' | 'i' | 'm' | 'n' | 'X' | 'l') || c.is_ascii_uppercase();
    constraint.chars().all(is_any).then_some(Spot::Operand(number))
}

fn register(name: &str) -> Option<(Spot, u8)> {
    let find = |(idx, family): (usize, &[&str; 4])| {
        family.iter().position(|known| *known == name).map(|size| (Spot::Register(idx), WIDTHS[size]))
    };
    REGISTERS.iter().enumerate().find_map(find)
}

/// One instruction each, without comments.
fn statements(code: &str) -> Vec<String> {
    let lines = code.split(['\n', ';']).map(|line| line.split('#').next().unwrap_or("").trim().replace('\t', " "));
    // A prefix may stand before its instruction.
    let lines = lines.map(|line| match line.split_once(' ') {
        Some(("lock" | "rep", rest)) => rest.trim().to_string(),
        _ => line,
    });
    lines.filter(|line| !line.is_empty()).collect()
}

fn mnemonic(statement: &str) -> (&str, &str) {
    statement.split_once(' ').unwrap_or((statement, ""))
}

const KNOWN: &[&str] = &[
    "mov", "xchg", "neg", "not", "inc", "dec", "bswap", "shl", "sal", "shr", "sar", "rol", "ror", "add", "sub", "and",
    "or", "xor", "imul", "push", "pop",
];

/// The instruction without its suffix, and the width that says. Nothing for those that do nothing.
fn operation(name: &str) -> Option<(&'static str, Option<u8>)> {
    if NOTHING.contains(&name) {
        return Some(("", None));
    }
    if name == "rdtsc" {
        return Some(("rdtsc", None));
    }
    if let Some(known) = KNOWN.iter().find(|known| **known == name) {
        return Some((known, None));
    }
    let (base, suffix) = name.split_at_checked(name.len().checked_sub(1)?)?;
    let bits = match suffix {
        "b" => 8,
        "w" => 16,
        "l" => 32,
        "q" => 64,
        _ => return None,
    };
    KNOWN.iter().find(|known| **known == base).map(|known| (*known, Some(bits)))
}

/// At commas outside of brackets.
fn split_operands(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text.trim().is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

fn named(run: &Run, text: &str) -> Option<Named> {
    if let Some(number) = text.strip_prefix("$$") {
        return parse_number(number).map(Named::Number);
    }
    if let Some(name) = text.strip_prefix('%') {
        return register(name).map(|(spot, bits)| Named::Spot(spot, Some(bits)));
    }
    if matches!(text.trim_start_matches('0'), "(%rsp)" | "(%esp)") {
        return Some(Named::StackTop);
    }
    let (number, bits) = match text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
        Some(inner) => {
            let (number, modifier) = inner.split_once(':')?;
            let bits = match modifier {
                "b" => 8,
                "w" => 16,
                "k" => 32,
                "q" => 64,
                _ => return None,
            };
            (number.parse::<usize>().ok()?, Some(bits))
        }
        None => (text.strip_prefix('$')?.parse::<usize>().ok()?, None),
    };
    Some(match *run.operands.get(number)? {
        Operand::Spot(spot, own) => Named::Spot(spot, bits.or(Some(own))),
        Operand::Memory(pointer) => Named::Memory(pointer),
        Operand::Number(value) => Named::Number(value),
    })
}

fn parse_number(text: &str) -> Option<u64> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let number = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if is_negative { number.wrapping_neg() } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_suffixes() {
        assert_eq!(operation("addl"), Some(("add", Some(32))));
        assert_eq!(operation("add"), Some(("add", None)));
        assert_eq!(operation("rol"), Some(("rol", None)));
        assert_eq!(operation("roll"), Some(("rol", Some(32))));
        assert_eq!(operation("jmp"), None);
        assert_eq!(split_operands("$0, 4(%rax,%rbx), %ecx"), ["$0", "4(%rax,%rbx)", "%ecx"]);
        assert_eq!(statements("lock; addl $$0,0(%rsp)"), ["lock", "addl $$0,0(%rsp)"]);
        assert_eq!(parse_number("-0x10"), Some((-16i64) as u64));
    }
}
