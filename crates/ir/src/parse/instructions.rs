//! Instructions.

use super::{CallTable, Destination, Operand, Parsed, Parser};
use crate::lex::Token;
use crate::names::Named;
use crate::{
    Arg, BinOp, BitOp, ByVal, Call, CallId, Callee, CastOp, CmpOp, FloatBinOp, FloatCastOp, FloatCmpOp, FloatKind,
    FloatMathOp, Inst, Intrinsic, OverflowOp, Reg, SymbolRef,
};

impl Parser {
    pub(super) fn operand(&mut self, bits: u8) -> Parsed<Operand> {
        if Self::id_number(self.peek(), "r").is_some() {
            return Ok(Operand::Reg(self.reg()?));
        }
        match self.peek() {
            Token::Number(_) | Token::Punct("-") => Ok(Operand::Imm(self.immediate(bits)?)),
            _ => self.expected("a register or a number"),
        }
    }

    pub(super) fn reg_pair(&mut self) -> Parsed<(Reg, Reg)> {
        let a = self.reg()?;
        self.expect(",")?;
        Ok((a, self.reg()?))
    }

    pub(super) fn reg_triple(&mut self) -> Parsed<(Reg, Reg, Reg)> {
        let (a, b) = self.reg_pair()?;
        self.expect(",")?;
        Ok((a, b, self.reg()?))
    }

    /// The next operand after a comma, or `default` when there is none.
    pub(super) fn optional_reg(&mut self, default: Reg) -> Parsed<Reg> {
        if self.eat(",") { self.reg() } else { Ok(default) }
    }

    /// `r1:32, r2:1 =`, or nothing.
    pub(super) fn destinations(&mut self) -> Parsed<Vec<Destination>> {
        let mut destinations = Vec::new();
        if Self::id_number(self.peek(), "r").is_none() {
            return Ok(destinations);
        }
        loop {
            let reg = self.reg()?;
            let bits = if self.eat(":") { Some(self.width()?) } else { None };
            destinations.push(Destination { reg, bits });
            if !self.eat(",") {
                break;
            }
        }
        self.expect("=")?;
        Ok(destinations)
    }

    pub(super) fn inst(&mut self, calls: &mut CallTable) -> Parsed<Inst> {
        let destinations = self.destinations()?;
        if self.eat_word("call") {
            return Ok(Inst::Call { call: self.call(destinations, calls)? });
        }
        if destinations.is_empty() && self.eat_word("store") {
            return self.store();
        }
        let word = self.word("an instruction or a terminator")?;
        if let Some(op) = OverflowOp::from_name(&word) {
            return self.overflow(op, &destinations);
        }
        let [to] = &destinations[..] else {
            return self.error_before(format!("`{word}` needs one destination (`r0:32 = {word} ...`)"));
        };
        if let Some(op) = BinOp::from_name(&word) {
            self.bin(op, to)
        } else if let Some(op) = CmpOp::from_name(&word) {
            self.cmp(op, to)
        } else if let Some(op) = CastOp::from_name(&word) {
            let (a, from) = self.sized_reg()?;
            Ok(Inst::Cast { op, from, to: self.given(to)?, dst: to.reg, a })
        } else if let Some(op) = BitOp::from_name(&word) {
            let a = self.reg()?;
            let b = self.optional_reg(a)?;
            Ok(Inst::BitOp { op, bits: self.given(to)?, dst: to.reg, a, b })
        } else if let Some(op) = FloatBinOp::from_name(&word) {
            let kind = self.float_kind()?;
            let (a, b) = self.reg_pair()?;
            Ok(Inst::FloatBin { op, kind, dst: self.implied(to, kind.bits())?, a, b })
        } else if let Some(op) = FloatCastOp::from_name(&word) {
            self.float_cast(op, to)
        } else if let Some(op) = FloatMathOp::from_name(&word) {
            let kind = self.float_kind()?;
            let a = self.reg()?;
            let b = self.optional_reg(a)?;
            let c = self.optional_reg(a)?;
            Ok(Inst::FloatMath { op, kind, dst: self.implied(to, kind.bits())?, a, b, c })
        } else {
            self.other(&word, to)
        }
    }

    /// The width that the text gives for a destination whose instruction does not fix one.
    pub(super) fn given(&self, to: &Destination) -> Parsed<u8> {
        match to.bits {
            Some(bits) => Ok(bits),
            None => self.error_before(format!("`{}` needs a width (`{}:32 = ...`)", to.reg, to.reg)),
        }
    }

    /// The register of a destination whose width the instruction fixes.
    pub(super) fn implied(&self, to: &Destination, bits: u8) -> Parsed<Reg> {
        match to.bits {
            Some(given) if given != bits => {
                self.error_before(format!("this instruction gives {bits} bits, but `{}` is given {given}", to.reg))
            }
            _ => Ok(to.reg),
        }
    }

    pub(super) fn pointer(&self, to: &Destination) -> Parsed<Reg> {
        self.implied(to, self.module.target.pointer_bits())
    }

    pub(super) fn float_kind(&mut self) -> Parsed<FloatKind> {
        self.named("a kind of float (`half`, `single`, `double`, `extended`, `quad`)")
    }

    pub(super) fn bin(&mut self, op: BinOp, to: &Destination) -> Parsed<Inst> {
        let bits = self.given(to)?;
        let nsw = self.eat_word("nsw");
        let a = self.reg()?;
        self.expect(",")?;
        Ok(match self.operand(bits)? {
            Operand::Reg(b) => Inst::Bin { op, bits, nsw, dst: to.reg, a, b },
            Operand::Imm(imm) => Inst::BinImm { op, bits, nsw, dst: to.reg, a, imm },
        })
    }

    pub(super) fn cmp(&mut self, op: CmpOp, to: &Destination) -> Parsed<Inst> {
        self.expect(":")?;
        let bits = self.width()?;
        let a = self.reg()?;
        self.expect(",")?;
        let b = self.operand(bits)?;
        let dst = self.implied(to, 1)?;
        Ok(match b {
            Operand::Reg(b) => Inst::Cmp { op, bits, dst, a, b },
            Operand::Imm(imm) => Inst::CmpImm { op, bits, dst, a, imm },
        })
    }

    pub(super) fn overflow(&mut self, op: OverflowOp, destinations: &[Destination]) -> Parsed<Inst> {
        let [to, flag] = destinations else {
            return self.error_before(format!("`{0}` has two destinations (`r0:32, r1:1 = {0} ...`)", op.name()));
        };
        let (a, b) = self.reg_pair()?;
        Ok(Inst::Overflow { op, bits: self.given(to)?, dst: to.reg, flag: self.implied(flag, 1)?, a, b })
    }

    pub(super) fn float_cast(&mut self, op: FloatCastOp, to: &Destination) -> Parsed<Inst> {
        let (a, from) = self.sized_reg()?;
        let kind = self.float_kind()?;
        let to_kind = if self.eat("->") { self.float_kind()? } else { kind };
        Ok(Inst::FloatCast { op, from, to: self.given(to)?, kind, to_kind, dst: to.reg, a })
    }

    /// Instructions that are not one of a family.
    pub(super) fn other(&mut self, word: &str, to: &Destination) -> Parsed<Inst> {
        let dst = to.reg;
        Ok(match word {
            "const" => {
                let bits = self.given(to)?;
                if bits > 64 {
                    Inst::WideConst { dst, bits, value: Box::new(self.constant(bits)?) }
                } else {
                    Inst::Const { dst, bits, value: self.immediate(bits)? }
                }
            }
            "undef" => Inst::Undef { dst, bits: self.given(to)? },
            "addr" => {
                let symbol = self.symbol()?;
                Inst::Address { dst: self.pointer(to)?, symbol, addend: self.addend()? }
            }
            "copy" => Inst::Copy { dst, src: self.reg()?, bits: self.given(to)? },
            "select" => {
                let (cond, a, b) = self.reg_triple()?;
                Inst::Select { bits: self.given(to)?, dst, cond, a, b }
            }
            "fshl" => {
                let (hi, lo, amount) = self.reg_triple()?;
                Inst::FunnelShl { bits: self.given(to)?, dst, hi, lo, amount }
            }
            "fshr" => {
                let (hi, lo, amount) = self.reg_triple()?;
                Inst::FunnelShr { bits: self.given(to)?, dst, hi, lo, amount }
            }
            "index" => {
                let base = self.reg()?;
                self.expect("+")?;
                let (index, index_bits) = self.sized_reg()?;
                self.expect("*")?;
                Inst::Index { dst: self.pointer(to)?, base, index, index_bits, scale: self.immediate(64)? }
            }
            "load" => {
                let addr = self.reg()?;
                let bits = self.given(to)?;
                Inst::Load { dst, bits, align: self.align_of(bits)?, addr }
            }
            "alloca" => self.alloca(to)?,
            "fcmp" => {
                let op = self.named::<FloatCmpOp>("a float comparison (`olt` ...)")?;
                let kind = self.float_kind()?;
                let (a, b) = self.reg_pair()?;
                Inst::FloatCmp { op, kind, dst: self.implied(to, 1)?, a, b }
            }
            _ => return self.error_before(format!("no instruction is called `{word}`")),
        })
    }

    /// `align N`; left out, one that every C object of this width has.
    pub(super) fn align_of(&mut self, bits: u8) -> Parsed<u8> {
        if self.eat_word("align") {
            return self.number();
        }
        let bytes = bits.div_ceil(8);
        Ok(if bytes.is_power_of_two() { bytes } else { 1 })
    }

    pub(super) fn store(&mut self) -> Parsed<Inst> {
        let (src, bits) = self.sized_reg()?;
        self.expect("->")?;
        let addr = self.reg()?;
        Ok(Inst::Store { src, bits, align: self.align_of(bits)?, addr })
    }

    pub(super) fn alloca(&mut self, to: &Destination) -> Parsed<Inst> {
        let dst = self.pointer(to)?;
        let bytes = self.number()?;
        let align = if self.eat_word("align") { self.number()? } else { 16 };
        let count = if self.eat_word("count") { Some(self.reg()?) } else { None };
        let variable = if self.eat_word("var") { Some(self.id("v", "a variable (`v0`)")?) } else { None };
        Ok(Inst::Alloca { dst, bytes, align, count, variable })
    }

    /// The rest of a call after the word `call`; enters it in the table.
    pub(super) fn call(&mut self, destinations: Vec<Destination>, calls: &mut CallTable) -> Parsed<CallId> {
        let number = match Self::id_number(self.peek(), "c") {
            Some(number) => {
                self.advance();
                number
            }
            None => calls.next,
        };
        let results =
            destinations.iter().map(|to| Ok((to.reg, self.given(to)?))).collect::<Parsed<Vec<(Reg, u8)>>>()?;
        let callee = self.callee()?;
        self.expect("(")?;
        let args = self.list(")", Self::arg)?;
        let n_fixed = if self.eat_word("fixed") { self.number()? } else { u32::MAX };
        let result_used = if self.eat_word("used") {
            true
        } else if self.eat_word("unused") {
            false
        } else {
            !results.is_empty()
        };
        let call = Call { callee, args, results, n_fixed, result_used };
        let number = CallId(number);
        calls.next = number.0.saturating_add(1);
        if calls.calls.get(&number).is_some_and(|earlier| *earlier != call) {
            return self.error_before(format!("`{number}` is already another call"));
        }
        calls.calls.insert(number, call);
        Ok(number)
    }

    pub(super) fn callee(&mut self) -> Parsed<Callee> {
        if self.eat("*") {
            return Ok(Callee::Indirect(self.reg()?));
        }
        if self.eat("%") {
            return Ok(Callee::Intrinsic(self.named::<Intrinsic>("an intrinsic (`memcpy` ...)")?));
        }
        if self.eat_word("gap") {
            return Ok(Callee::Gap(self.string()?));
        }
        match self.symbol()? {
            SymbolRef::Function(func) => Ok(Callee::Function(func)),
            _ => self.error_before("only functions can be called"),
        }
    }

    pub(super) fn arg(&mut self) -> Parsed<Arg> {
        let (reg, bits) = self.sized_reg()?;
        let is_float = matches!(self.peek(), Token::Word(word) if FloatKind::from_name(word).is_some());
        let float = if is_float { Some(self.float_kind()?) } else { None };
        let byval = if self.eat_word("byval") {
            let bytes = self.number()?;
            self.expect_word("align")?;
            Some(ByVal { bytes, align: self.number()? })
        } else {
            None
        };
        Ok(Arg { reg, bits, byval, float })
    }
}
