//! The bytecode as text. `parse` reads it back to an equal module.
//!
//! ```text
//! func @scale(r0:32, r1:32) -> 32 slots 4 at file0:3 {
//! b0:
//!     r2:32 = add nsw r0, 5 !s3
//!     br slt:32 r2, 10 ? b1 : b2 [r3:32 = r2]
//! ```
//!
//! What is always true goes unwritten: a position that is not known, a call number that is the next one. Symbols go by
//! name where the name is unique in the module, else by table and number (`f3`, `g2`).

use std::fmt::{self, Display, Write as _};

use rustc_hash::FxHashMap;

use crate::names::Named;
use crate::{
    Block, BlockId, Call, CallId, Callee, Edge, Field, FileId, FuncId, Function, Global, Holding, Init, Inst, Module,
    Reg, SourceType, SourceTypeId, Span, SpanId, SymbolRef, Terminator,
};

/// The module in the text form.
pub fn print(module: &Module) -> String {
    Printer::new(module).module()
}

/// One function in the text form.
pub fn print_function(module: &Module, func: FuncId) -> String {
    let mut printer = Printer::new(module);
    printer.function(module.function(func));
    printer.out
}

struct Printer<'m> {
    module: &'m Module,
    n_bearers: FxHashMap<&'m str, u32>,
    out: String,
}

/// The text is made before it is appended because its arguments may borrow the printer.
macro_rules! put {
    ($printer:expr, $($arg:tt)*) => {{
        let text = format_args!($($arg)*).to_string();
        $printer.out.push_str(&text);
    }};
}

impl<'m> Printer<'m> {
    fn new(module: &'m Module) -> Self {
        let mut n_bearers = FxHashMap::default();
        let functions = module.functions.iter().map(|function| function.name.as_str());
        let globals = module.globals.iter().map(|global| global.name.as_str());
        for name in functions.chain(globals) {
            *n_bearers.entry(name).or_default() += 1;
        }
        Self { module, n_bearers, out: String::new() }
    }

    fn module(mut self) -> String {
        let target = &self.module.target;
        put!(self, "target {} pointer {}\n", Quoted(target.triple.as_bytes()), target.pointer_bytes);
        for (idx, file) in self.module.files.iter().enumerate() {
            let user = if file.is_user { " user" } else { "" };
            put!(self, "{} = {}{user}\n", FileId::new(idx), Quoted(file.path.as_bytes()));
        }
        for (idx, span) in self.module.spans.iter().enumerate() {
            if idx == 0 && *span == (Span { file: None, line: 0, column: 0 }) {
                continue;
            }
            let Span { file, line, column } = *span;
            put!(self, "{} = {}:{line}:{column}\n", SpanId::new(idx), OrWord(file, "none"));
        }
        for (idx, ty) in self.module.types.iter().enumerate() {
            put!(self, "{} = ", SourceTypeId::new(idx));
            self.source_type(ty);
            self.out.push('\n');
        }
        for global in &self.module.globals {
            self.global(global);
        }
        for function in &self.module.functions {
            self.out.push('\n');
            self.function(function);
        }
        self.out
    }

    fn source_type(&mut self, ty: &SourceType) {
        match ty {
            SourceType::Base { name, bytes, kind } => {
                put!(self, "base {} {bytes} {}", Quoted(name.as_bytes()), kind.name());
            }
            SourceType::Pointer { to, bytes } => {
                put!(self, "pointer {} {bytes}", OrWord(*to, "void"));
            }
            SourceType::Array { of, count: Some(count) } => {
                put!(self, "array {} [{count}]", OrWord(*of, "void"));
            }
            SourceType::Array { of, count: None } => {
                put!(self, "array {} []", OrWord(*of, "void"));
            }
            SourceType::Struct { name, bytes, fields, is_complete } => {
                put!(self, "struct {} {bytes}", Quoted(name.as_bytes()));
                self.fields(fields, *is_complete);
            }
            SourceType::Union { name, bytes, fields, is_complete } => {
                put!(self, "union {} {bytes}", Quoted(name.as_bytes()));
                self.fields(fields, *is_complete);
            }
            SourceType::Enum { name, bytes, values } => {
                put!(self, "enum {} {bytes} ", Quoted(name.as_bytes()));
                self.list("(", values, ")", |p, value| {
                    put!(p, "{} = {}", Quoted(value.name.as_bytes()), value.value);
                });
            }
            SourceType::Typedef { name, of } => {
                put!(self, "typedef {} {}", Quoted(name.as_bytes()), OrWord(*of, "void"));
            }
            SourceType::Const { of } => {
                put!(self, "const {}", OrWord(*of, "void"));
            }
            SourceType::Volatile { of } => {
                put!(self, "volatile {}", OrWord(*of, "void"));
            }
            SourceType::Qualified { of } => {
                put!(self, "qualified {}", OrWord(*of, "void"));
            }
            SourceType::Function { result, params, is_variadic } => {
                put!(self, "function {} ", OrWord(*result, "void"));
                let rest = match (is_variadic, params.is_empty()) {
                    (false, _) => ")",
                    (true, true) => "...)",
                    (true, false) => ", ...)",
                };
                self.list("(", params, rest, |p, param| {
                    put!(p, "{}", OrWord(*param, "void"));
                });
            }
        }
    }

    fn fields(&mut self, fields: &[Field], is_complete: bool) {
        self.out.push_str(if is_complete { " " } else { " incomplete " });
        self.list("(", fields, ")", |p, field| {
            let kind = if field.is_bit_field { "bitfield" } else { "field" };
            let Field { name, bit_offset, bits, is_bit_field: _, ty } = field;
            put!(p, "{kind} {} {bit_offset} {bits} {}", Quoted(name.as_bytes()), OrWord(*ty, "void"));
        });
    }

    fn list<T>(&mut self, open: &str, items: &[T], close: &str, mut item: impl FnMut(&mut Self, &T)) {
        self.out.push_str(open);
        for (idx, entry) in items.iter().enumerate() {
            if idx > 0 {
                self.out.push_str(", ");
            }
            item(self, entry);
        }
        self.out.push_str(close);
    }

    fn global(&mut self, global: &Global) {
        let Global { name, bytes, align, init, is_constant, ty, is_runtime } = global;
        put!(self, "global {} bytes {bytes} align {align}", SymbolName(name));
        if *is_constant {
            self.out.push_str(" const");
        }
        if *is_runtime {
            self.out.push_str(" runtime");
        }
        if let Some(ty) = ty {
            put!(self, " type {ty}");
        }
        match init {
            Init::External => self.out.push_str(" = external"),
            Init::Zero => self.out.push_str(" = zero"),
            Init::Bytes { bytes, relocs } => {
                put!(self, " = data {}", Quoted(bytes));
                if !relocs.is_empty() {
                    self.list(" (", relocs, ")", |p, reloc| {
                        put!(p, "at {} bytes {} = {}", reloc.offset, reloc.bytes, p.symbol(reloc.plus));
                        if let Some(minus) = reloc.minus {
                            put!(p, " - {}", p.symbol(minus));
                        }
                        p.addend(reloc.addend);
                    });
                }
            }
        }
        self.out.push('\n');
    }

    fn addend(&mut self, addend: i64) {
        match addend {
            0 => {}
            1.. => {
                put!(self, " + {addend}");
            }
            _ => {
                put!(self, " - {}", addend.unsigned_abs());
            }
        }
    }

    fn symbol(&self, symbol: SymbolRef) -> String {
        let (name, number) = match symbol {
            SymbolRef::Global(global) => (self.module.globals.get(global.idx()).map(|it| &it.name), global.to_string()),
            SymbolRef::Function(func) => (self.module.functions.get(func.idx()).map(|it| &it.name), func.to_string()),
            SymbolRef::Block(func, block) => return format!("{}:{block}", self.symbol(SymbolRef::Function(func))),
        };
        match name {
            Some(name) if self.n_bearers[name.as_str()] == 1 => SymbolName(name).to_string(),
            _ => number,
        }
    }

    fn function(&mut self, function: &Function) {
        self.function_head(function);
        let is_empty = function.variables.is_empty() && function.holdings.is_empty() && function.calls.is_empty();
        if function.is_declaration() && is_empty {
            self.out.push('\n');
            return;
        }
        self.out.push_str(" {\n");
        for (idx, variable) in function.variables.iter().enumerate() {
            put!(self, "    var v{idx} {} {}\n", Quoted(variable.name.as_bytes()), OrWord(variable.ty, "void"));
        }
        for Holding { block, reg, variable } in &function.holdings {
            put!(
                self,
                "    holds {block} {reg} {} {}\n",
                Quoted(variable.name.as_bytes()),
                OrWord(variable.ty, "void")
            );
        }
        self.unmade_calls(function);
        let mut next_call = CallId(0);
        for (idx, block) in function.blocks.iter().enumerate() {
            put!(self, "{}:\n", BlockId::new(idx));
            self.block(function, block, &mut next_call);
        }
        self.out.push_str("}\n");
    }

    fn function_head(&mut self, function: &Function) {
        put!(self, "func {}", SymbolName(&function.name));
        let close = match (function.variadic, function.params.is_empty()) {
            (false, _) => ")",
            (true, true) => "...)",
            (true, false) => ", ...)",
        };
        self.list("(", &function.params, close, |p, param| {
            put!(p, "{}:{}", param.reg, param.bits);
        });
        match function.results[..] {
            [] => {}
            [result] => {
                put!(self, " -> {}", result.bits);
            }
            _ => self.list(" -> (", &function.results, ")", |p, result| {
                put!(p, "{}", result.bits);
            }),
        }
        put!(self, " slots {}", function.n_slots);
        if function.file.is_some() || function.line != 0 {
            put!(self, " at {}:{}", OrWord(function.file, "none"), function.line);
        }
        if let Some(signature) = function.signature {
            put!(self, " type {signature}");
        }
        if !function.param_names.is_empty() {
            self.list(" names (", &function.param_names, ")", |p, name| {
                put!(p, "{}", Quoted(name.as_bytes()));
            });
        }
        let flags =
            [(function.is_static, " static"), (function.is_runtime, " runtime"), (function.no_return, " noreturn")];
        for (_, word) in flags.iter().filter(|(is_set, _)| *is_set) {
            self.out.push_str(word);
        }
    }

    /// Calls of blocks that are gone stay in the table; the text keeps them so that numbers stay the same.
    fn unmade_calls(&mut self, function: &Function) {
        let mut is_made = vec![false; function.calls.len()];
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            if let Inst::Call { call } = inst {
                is_made[call.idx()] = true;
            }
        }
        for idx in (0..is_made.len()).filter(|&idx| !is_made[idx]) {
            self.out.push_str("    unmade ");
            self.call(&function.calls[idx], Some(CallId::new(idx)));
            self.out.push('\n');
        }
    }

    fn block(&mut self, function: &Function, block: &Block, next_call: &mut CallId) {
        for (idx, inst) in block.insts.iter().enumerate() {
            self.out.push_str("    ");
            if let Inst::Call { call } = *inst {
                let number = (call != *next_call).then_some(call);
                *next_call = CallId(call.0 + 1);
                self.call(&function.calls[call.idx()], number);
            } else {
                self.inst(function, inst);
            }
            self.span(block.spans.get(idx));
        }
        self.out.push_str("    ");
        self.terminator(&block.terminator);
        self.span(block.spans.get(block.insts.len()));
    }

    fn span(&mut self, span: Option<&SpanId>) {
        if let Some(span) = span.filter(|span| span.0 != 0) {
            put!(self, " !{span}");
        }
        self.out.push('\n');
    }

    /// Every instruction but a call.
    fn inst(&mut self, function: &Function, inst: &Inst) {
        let pointer_bits = self.module.target.pointer_bits();
        let mut separator = "";
        function.for_each_def(inst, pointer_bits, |reg, bits| {
            put!(self, "{separator}{reg}:{bits}");
            separator = ", ";
        });
        if !separator.is_empty() {
            self.out.push_str(" = ");
        }
        match inst {
            Inst::Const { value, .. } => put!(self, "const {value}"),
            Inst::WideConst { value, .. } => put!(self, "const {value}"),
            Inst::Undef { .. } => self.out.push_str("undef"),
            Inst::Address { symbol, addend, .. } => {
                put!(self, "addr {}", self.symbol(*symbol));
                self.addend(*addend);
            }
            Inst::Copy { src, .. } => put!(self, "copy {src}"),
            Inst::Bin { op, nsw, a, b, .. } => put!(self, "{}{} {a}, {b}", op.name(), nsw_word(*nsw)),
            Inst::BinImm { op, nsw, a, imm, .. } => put!(self, "{}{} {a}, {imm}", op.name(), nsw_word(*nsw)),
            Inst::Cmp { op, bits, a, b, .. } => put!(self, "{}:{bits} {a}, {b}", op.name()),
            Inst::CmpImm { op, bits, a, imm, .. } => put!(self, "{}:{bits} {a}, {imm}", op.name()),
            Inst::Cast { op, from, a, .. } => put!(self, "{} {a}:{from}", op.name()),
            Inst::Select { cond, a, b, .. } => put!(self, "select {cond}, {a}, {b}"),
            Inst::Overflow { op, a, b, .. } => put!(self, "{} {a}, {b}", op.name()),
            Inst::BitOp { op, a, b, .. } => {
                put!(self, "{}", op.name());
                self.operands(&[*a, *b]);
            }
            Inst::FunnelShl { hi, lo, amount, .. } => put!(self, "fshl {hi}, {lo}, {amount}"),
            Inst::FunnelShr { hi, lo, amount, .. } => put!(self, "fshr {hi}, {lo}, {amount}"),
            Inst::Index { base, index, index_bits, scale, .. } => {
                put!(self, "index {base} + {index}:{index_bits} * {scale}")
            }
            Inst::Load { align, addr, .. } => put!(self, "load {addr} align {align}"),
            Inst::Store { src, bits, align, addr } => put!(self, "store {src}:{bits} -> {addr} align {align}"),
            Inst::Alloca { bytes, align, count, variable, .. } => {
                put!(self, "alloca {bytes} align {align}");
                if let Some(count) = count {
                    put!(self, " count {count}");
                }
                if let Some(variable) = variable {
                    put!(self, " var v{variable}");
                }
            }
            Inst::FloatBin { op, kind, a, b, .. } => put!(self, "{} {} {a}, {b}", op.name(), kind.name()),
            Inst::FloatCmp { op, kind, a, b, .. } => put!(self, "fcmp {} {} {a}, {b}", op.name(), kind.name()),
            Inst::FloatCast { op, from, kind, to_kind, a, .. } => {
                put!(self, "{} {a}:{from} {} -> {}", op.name(), kind.name(), to_kind.name())
            }
            Inst::FloatMath { op, kind, a, b, c, .. } => {
                put!(self, "{} {}", op.name(), kind.name());
                self.operands(&[*a, *b, *c]);
            }
            Inst::Call { .. } => unreachable!("calls are written by `call`"),
        }
    }

    /// Trailing operands that repeat the first go unwritten: that is how unused ones are filled.
    fn operands(&mut self, operands: &[Reg]) {
        let n_written = operands.iter().rposition(|reg| *reg != operands[0]).map_or(1, |last| last + 1);
        self.list(" ", &operands[..n_written], "", |p, reg| {
            put!(p, "{reg}");
        });
    }

    fn call(&mut self, call: &Call, number: Option<CallId>) {
        let Call { callee, args, results, n_fixed, result_used } = call;
        if !results.is_empty() {
            self.list("", results, " = ", |p, (reg, bits)| {
                put!(p, "{reg}:{bits}");
            });
        }
        self.out.push_str("call ");
        if let Some(number) = number {
            put!(self, "{number} ");
        }
        match callee {
            Callee::Function(func) => put!(self, "{}", self.symbol(SymbolRef::Function(*func))),
            Callee::Indirect(reg) => put!(self, "*{reg}"),
            Callee::Intrinsic(intrinsic) => put!(self, "%{}", intrinsic.name()),
            Callee::Gap(what) => put!(self, "gap {}", Quoted(what.as_bytes())),
        }
        self.list("(", args, ")", |p, arg| {
            put!(p, "{}:{}", arg.reg, arg.bits);
            if let Some(kind) = arg.float {
                put!(p, " {}", kind.name());
            }
            if let Some(byval) = arg.byval {
                put!(p, " byval {} align {}", byval.bytes, byval.align);
            }
        });
        if *n_fixed != u32::MAX {
            put!(self, " fixed {n_fixed}");
        }
        match (result_used, results.is_empty()) {
            (true, false) | (false, true) => {}
            (true, true) => self.out.push_str(" used"),
            (false, false) => self.out.push_str(" unused"),
        }
    }

    fn terminator(&mut self, terminator: &Terminator) {
        match terminator {
            Terminator::Jump(edge) => {
                self.out.push_str("jump ");
                self.edge(edge);
            }
            Terminator::Branch { cond, then, other } => {
                put!(self, "br {cond}");
                self.alternatives(then, other);
            }
            Terminator::CmpBranch { op, bits, a, b, then, other } => {
                put!(self, "br {}:{bits} {a}, {b}", op.name());
                self.alternatives(then, other);
            }
            Terminator::CmpImmBranch { op, bits, a, imm, then, other } => {
                put!(self, "br {}:{bits} {a}, {imm}", op.name());
                self.alternatives(then, other);
            }
            Terminator::Switch { value, bits, cases, default } => {
                put!(self, "switch {value}:{bits} (");
                for (case, edge) in cases {
                    put!(self, "{case}: ");
                    self.edge(edge);
                    self.out.push_str(", ");
                }
                self.out.push_str("default: ");
                self.edge(default);
                self.out.push(')');
            }
            Terminator::Return(values) => {
                self.out.push_str("ret");
                if !values.is_empty() {
                    self.list(" ", values, "", |p, value| {
                        put!(p, "{value}");
                    });
                }
            }
            Terminator::IndirectJump { addr, targets } => {
                put!(self, "goto *{addr} ");
                self.list("(", targets, ")", |p, (block, edge)| {
                    put!(p, "{block}: ");
                    p.edge(edge);
                });
            }
            Terminator::Unreachable => self.out.push_str("unreachable"),
        }
    }

    fn alternatives(&mut self, then: &Edge, other: &Edge) {
        self.out.push_str(" ? ");
        self.edge(then);
        self.out.push_str(" : ");
        self.edge(other);
    }

    fn edge(&mut self, edge: &Edge) {
        put!(self, "{}", edge.target);
        if !edge.moves.is_empty() {
            self.list(" [", &edge.moves, "]", |p, it| {
                put!(p, "{}:{} = {}", it.dst, it.bits, it.src);
            });
        }
    }
}

fn nsw_word(nsw: bool) -> &'static str {
    if nsw { " nsw" } else { "" }
}

/// The id, or a word for its absence.
struct OrWord<T>(Option<T>, &'static str);

impl<T: Display> Display for OrWord<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(id) => id.fmt(f),
            None => f.write_str(self.1),
        }
    }
}

/// Printable ASCII as it is, every other byte as `\xNN`.
struct Quoted<'a>(&'a [u8]);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for &byte in self.0 {
            match byte {
                b'"' => f.write_str("\\\"")?,
                b'\\' => f.write_str("\\\\")?,
                b'\n' => f.write_str("\\n")?,
                b' '..=b'~' => f.write_char(char::from(byte))?,
                _ => write!(f, "\\x{byte:02x}")?,
            }
        }
        f.write_char('"')
    }
}

struct SymbolName<'a>(&'a str);

impl Display for SymbolName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = !self.0.is_empty() && self.0.bytes().all(is_symbol_byte);
        if is_plain { write!(f, "@{}", self.0) } else { write!(f, "@{}", Quoted(self.0.as_bytes())) }
    }
}

/// What a symbol's name may hold without quotes.
pub(crate) fn is_symbol_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}
