//! Functions, blocks and what ends them.

use super::{CallTable, Operand, Parsed, Parser};
use crate::lex::Token;
use crate::operands::slots_of;
use crate::{Block, CmpOp, Edge, Function, Holding, Move, Param, Reg, Slot, SpanId, Terminator, Variable};

impl Parser {
    pub(super) fn function(&mut self) -> Parsed<Function> {
        let (mut function, given_slots) = self.function_head()?;
        if self.eat("{") {
            self.line_end()?;
            self.body(&mut function)?;
        }
        function.n_slots = match given_slots {
            Some(n_slots) => n_slots,
            None => needed_slots(&function, self.module.target.pointer_bits()),
        };
        Ok(function)
    }

    pub(super) fn function_head(&mut self) -> Parsed<(Function, Option<u32>)> {
        let name = self.symbol_name()?;
        self.expect("(")?;
        let (params, variadic) = self.params(|p| {
            let (reg, bits) = p.sized_reg()?;
            Ok(Param { reg, bits })
        })?;
        let results = if !self.eat("->") {
            Vec::new()
        } else if self.eat("(") {
            self.list(")", |p| Ok(Slot { bits: p.width()? }))?
        } else {
            vec![Slot { bits: self.width()? }]
        };
        let mut function = Function {
            name,
            params,
            results,
            variadic,
            no_return: false,
            n_slots: 0,
            blocks: Vec::new(),
            calls: Vec::new(),
            variables: Vec::new(),
            holdings: Vec::new(),
            file: None,
            line: 0,
            signature: None,
            param_names: Vec::new(),
            is_runtime: false,
            is_static: false,
        };
        let mut given_slots = None;
        loop {
            if self.eat_word("slots") {
                given_slots = Some(self.number()?);
            } else if self.eat_word("at") {
                function.file = self.file_or_none()?;
                self.expect(":")?;
                function.line = self.number()?;
            } else if self.eat_word("type") {
                function.signature = self.type_or_void()?;
            } else if self.eat_word("names") {
                self.expect("(")?;
                function.param_names = self.list(")", Self::string)?;
            } else if self.eat_word("static") {
                function.is_static = true;
            } else if self.eat_word("runtime") {
                function.is_runtime = true;
            } else if self.eat_word("noreturn") {
                function.no_return = true;
            } else {
                return Ok((function, given_slots));
            }
        }
    }

    pub(super) fn body(&mut self, function: &mut Function) -> Parsed<()> {
        let mut calls = CallTable::default();
        while self.eat_word("var") {
            let number = self.id("v", "a variable (`v0`)")?;
            if number as usize != function.variables.len() {
                return self.error_before(format!(
                    "variables are numbered in order: `v{}` comes next",
                    function.variables.len()
                ));
            }
            function.variables.push(Variable { name: self.string()?, ty: self.type_or_void()? });
            self.line_end()?;
        }
        while self.eat_word("holds") {
            let (block, reg) = (self.block_id()?, self.reg()?);
            let variable = Variable { name: self.string()?, ty: self.type_or_void()? };
            function.holdings.push(Holding { block, reg, variable });
            self.line_end()?;
        }
        while self.eat_word("unmade") {
            let results = self.destinations()?;
            self.expect_word("call")?;
            self.call(results, &mut calls)?;
            self.line_end()?;
        }
        calls.next = 0;
        while !self.eat("}") {
            let block = self.block_id()?;
            if block.idx() != function.blocks.len() {
                return self
                    .error_before(format!("blocks are numbered in order: `b{}` comes next", function.blocks.len()));
            }
            self.expect(":")?;
            if *self.peek() == Token::LineEnd {
                self.advance();
            }
            let block = self.block(&mut calls)?;
            function.blocks.push(block);
        }
        for (idx, (number, call)) in calls.calls.into_iter().enumerate() {
            if number.idx() != idx {
                return self
                    .error_before(format!("function `@{}` has no call `c{idx}`, but has `{number}`", function.name));
            }
            function.calls.push(call);
        }
        Ok(())
    }

    pub(super) fn block(&mut self, calls: &mut CallTable) -> Parsed<Block> {
        let mut insts = Vec::new();
        let mut spans = Vec::new();
        loop {
            if let Some(terminator) = self.terminator()? {
                spans.push(self.span()?);
                self.line_end()?;
                return Ok(Block { insts, terminator, spans });
            }
            insts.push(self.inst(calls)?);
            spans.push(self.span()?);
            self.line_end()?;
        }
    }

    pub(super) fn span(&mut self) -> Parsed<SpanId> {
        if !self.eat("!") {
            return Ok(SpanId(0));
        }
        Ok(SpanId(self.id("s", "a position (`s1`)")?))
    }

    /// `None` when the line is not a terminator; nothing is taken then.
    pub(super) fn terminator(&mut self) -> Parsed<Option<Terminator>> {
        Ok(Some(if self.eat_word("jump") {
            Terminator::Jump(self.edge()?)
        } else if self.eat_word("br") {
            self.branch()?
        } else if self.eat_word("switch") {
            self.switch()?
        } else if self.eat_word("ret") {
            self.ret()?
        } else if self.eat_word("goto") {
            self.indirect_jump()?
        } else if self.eat_word("unreachable") {
            Terminator::Unreachable
        } else {
            return Ok(None);
        }))
    }

    pub(super) fn branch(&mut self) -> Parsed<Terminator> {
        if Self::id_number(self.peek(), "r").is_some() {
            let cond = self.reg()?;
            let (then, other) = self.alternatives()?;
            return Ok(Terminator::Branch { cond, then, other });
        }
        let op = self.named::<CmpOp>("a comparison (`slt:32`) or a register")?;
        self.expect(":")?;
        let bits = self.width()?;
        let a = self.reg()?;
        self.expect(",")?;
        let b = self.operand(bits)?;
        let (then, other) = self.alternatives()?;
        Ok(match b {
            Operand::Reg(b) => Terminator::CmpBranch { op, bits, a, b, then, other },
            Operand::Imm(imm) => Terminator::CmpImmBranch { op, bits, a, imm, then, other },
        })
    }

    pub(super) fn alternatives(&mut self) -> Parsed<(Edge, Edge)> {
        self.expect("?")?;
        let then = self.edge()?;
        self.expect(":")?;
        Ok((then, self.edge()?))
    }

    pub(super) fn edge(&mut self) -> Parsed<Edge> {
        let target = self.block_id()?;
        let moves = if self.eat("[") {
            self.list("]", |p| {
                let (dst, bits) = p.sized_reg()?;
                p.expect("=")?;
                Ok(Move { dst, src: p.reg()?, bits })
            })?
        } else {
            Vec::new()
        };
        Ok(Edge { target, moves: moves.into() })
    }

    pub(super) fn switch(&mut self) -> Parsed<Terminator> {
        let (value, bits) = self.sized_reg()?;
        self.expect("(")?;
        let mut cases = Vec::new();
        while !self.eat_word("default") {
            let case = self.immediate(bits)?;
            self.expect(":")?;
            cases.push((case, self.edge()?));
            self.expect(",")?;
        }
        self.expect(":")?;
        let default = self.edge()?;
        self.eat(",");
        self.expect(")")?;
        Ok(Terminator::Switch { value, bits, cases: cases.into(), default })
    }

    pub(super) fn ret(&mut self) -> Parsed<Terminator> {
        let mut values = Vec::new();
        if Self::id_number(self.peek(), "r").is_some() {
            values.push(self.reg()?);
            while self.eat(",") {
                values.push(self.reg()?);
            }
        }
        Ok(Terminator::Return(values.into()))
    }

    pub(super) fn indirect_jump(&mut self) -> Parsed<Terminator> {
        self.expect("*")?;
        let addr = self.reg()?;
        self.expect("(")?;
        let targets = self.list(")", |p| {
            let block = p.block_id()?;
            p.expect(":")?;
            Ok((block, p.edge()?))
        })?;
        Ok(Terminator::IndirectJump { addr, targets: targets.into() })
    }
}

/// Slots up to the last register that the function mentions.
fn needed_slots(function: &Function, pointer_bits: u8) -> u32 {
    let mut n_slots = 0;
    let mut mention = |reg: Reg, bits: u8| n_slots = n_slots.max(reg.0.saturating_add(slots_of(bits)));
    for param in &function.params {
        mention(param.reg, param.bits);
    }
    for block in &function.blocks {
        for inst in &block.insts {
            function.for_each_use(inst, pointer_bits, &mut mention);
            function.for_each_def(inst, pointer_bits, &mut mention);
        }
        function.for_each_terminator_use(&block.terminator, pointer_bits, &mut mention);
        for it in block.terminator.edges().iter().flat_map(|edge| &edge.moves) {
            mention(it.dst, it.bits);
            mention(it.src, it.bits);
        }
    }
    n_slots
}
