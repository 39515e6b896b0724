//! Reads the text form that `print` writes.
//!
//! Made for writing modules by hand as well: positions, source types, alignments, `slots` and the target may be left
//! out. Left-out positions are `SpanId(0)`, `slots` is what the registers need, the target is x86-64.

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::lex::{Lexed, Token, lex};
use crate::names::Named;
use crate::operands::slots_of;
use crate::{
    Arg, BaseKind, BinOp, BitOp, Block, BlockId, ByVal, Call, CallId, Callee, CastOp, CmpOp, Edge, Enumerator, Field,
    FileId, FloatBinOp, FloatCastOp, FloatCmpOp, FloatKind, FloatMathOp, FuncId, Function, Global, GlobalId, Init,
    Inst, Intrinsic, Module, Move, OverflowOp, Param, Reg, Reloc, Slot, SourceFile, SourceType, SourceTypeId, Span,
    SpanId, SymbolRef, Target, Terminator, Variable,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// From 1.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

type Parsed<T> = Result<T, ParseError>;

/// Reads a module from its text form. The result is well-formed text, not yet a verified module.
pub fn parse(text: &str) -> Parsed<Module> {
    let tokens = lex(text)?;
    let symbols = collect_symbols(&tokens);
    let module = Module {
        target: Target { triple: "x86_64-unknown-linux-gnu".to_string(), pointer_bytes: 8 },
        functions: Vec::new(),
        globals: Vec::new(),
        types: Vec::new(),
        files: Vec::new(),
        spans: vec![Span { file: None, line: 0, column: 0 }],
    };
    let mut parser = Parser { tokens, pos: 0, symbols, module };
    parser.items()?;
    Ok(parser.module)
}

/// Functions and globals may be named before they are defined. A name borne twice is `None`: only its number will do.
fn collect_symbols(tokens: &[Lexed]) -> FxHashMap<String, Option<SymbolRef>> {
    let mut symbols = FxHashMap::default();
    let (mut n_functions, mut n_globals) = (0, 0);
    for (idx, pair) in tokens.windows(2).enumerate() {
        let is_line_start = idx == 0 || tokens[idx - 1].token == Token::LineEnd;
        let (Token::Word(word), Token::Symbol(name)) = (&pair[0].token, &pair[1].token) else { continue };
        let symbol = match word.as_str() {
            "func" if is_line_start => {
                n_functions += 1;
                SymbolRef::Function(FuncId::new(n_functions - 1))
            }
            "global" if is_line_start => {
                n_globals += 1;
                SymbolRef::Global(GlobalId::new(n_globals - 1))
            }
            _ => continue,
        };
        symbols.entry(name.clone()).and_modify(|earlier| *earlier = None).or_insert(Some(symbol));
    }
    symbols
}

struct Parser {
    tokens: Vec<Lexed>,
    pos: usize,
    symbols: FxHashMap<String, Option<SymbolRef>>,
    module: Module,
}

/// Calls of the function being read, by number; `next` is the number of a call that gives none.
#[derive(Default)]
struct CallTable {
    calls: BTreeMap<CallId, Call>,
    next: u32,
}

/// What stands left of `=`; widths may be left out where the instruction fixes them.
struct Destination {
    reg: Reg,
    bits: Option<u8>,
}

enum Operand {
    Reg(Reg),
    Imm(u64),
}

// Tokens.
impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.pos].token
    }

    fn peek_second(&self) -> &Token {
        &self.tokens[(self.pos + 1).min(self.tokens.len() - 1)].token
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        if self.pos + 1 < self.tokens.len() {
            self.pos += 1;
        }
        token
    }

    fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError { line: self.tokens[self.pos].line, message: message.into() })
    }

    /// An error about the token just taken.
    fn error_before<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let line = self.tokens[self.pos.saturating_sub(1)].line;
        Err(ParseError { line, message: message.into() })
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Symbol(name) => format!("`@{name}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Text(_) => "a quoted text".to_string(),
            Token::Punct(punct) => format!("`{punct}`"),
            Token::LineEnd => "the end of the line".to_string(),
            Token::End => "the end of the text".to_string(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    fn at(&self, punct: &str) -> bool {
        matches!(self.peek(), Token::Punct(found) if *found == punct)
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    fn eat(&mut self, punct: &str) -> bool {
        let is_there = self.at(punct);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_there = self.at_word(word);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn expect(&mut self, punct: &str) -> Parsed<()> {
        if self.eat(punct) { Ok(()) } else { self.expected(&format!("`{punct}`")) }
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn line_end(&mut self) -> Parsed<()> {
        if *self.peek() != Token::LineEnd {
            return self.expected("the end of the line");
        }
        self.advance();
        Ok(())
    }

    fn word(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Word(word) => {
                let word = word.clone();
                self.advance();
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    fn named<T: Named>(&mut self, what: &str) -> Parsed<T> {
        let op = match self.peek() {
            Token::Word(word) => T::from_name(word),
            _ => None,
        };
        let Some(op) = op else { return self.expected(what) };
        self.advance();
        Ok(op)
    }

    fn bytes(&mut self) -> Parsed<Vec<u8>> {
        match self.peek() {
            Token::Text(_) => match self.advance() {
                Token::Text(bytes) => Ok(bytes),
                _ => unreachable!("just seen"),
            },
            _ => self.expected("a quoted text"),
        }
    }

    fn string(&mut self) -> Parsed<String> {
        let bytes = self.bytes()?;
        String::from_utf8(bytes).or_else(|_| self.error_before("this text is not UTF-8"))
    }

    fn number<T: TryFrom<u128>>(&mut self) -> Parsed<T> {
        let Token::Number(number) = *self.peek() else { return self.expected("a number") };
        self.advance();
        T::try_from(number).or_else(|_| self.error_before(format!("{number} is too large here")))
    }

    fn signed(&mut self) -> Parsed<i64> {
        let is_negative = self.eat("-");
        let magnitude: u128 = self.number()?;
        signed_value(is_negative, magnitude).map_or_else(|| self.error_before("does not fit 64 bits, signed"), Ok)
    }

    /// `+ 5`, `- 5` or nothing.
    fn addend(&mut self) -> Parsed<i64> {
        if self.eat("+") {
            return self.signed();
        }
        if self.at("-") { self.signed() } else { Ok(0) }
    }

    /// An unsigned number as it is, a negative one as the bits of its two's complement.
    fn constant(&mut self, bits: u8) -> Parsed<u128> {
        let is_negative = self.eat("-");
        let magnitude: u128 = self.number()?;
        let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        Ok(if is_negative { magnitude.wrapping_neg() & mask } else { magnitude })
    }

    fn immediate(&mut self, bits: u8) -> Parsed<u64> {
        let value = self.constant(bits)?;
        u64::try_from(value).or_else(|_| self.error_before("an immediate has at most 64 bits"))
    }

    fn width(&mut self) -> Parsed<u8> {
        let bits = self.number()?;
        if (1..=128).contains(&bits) {
            Ok(bits)
        } else {
            self.error_before(format!("a width is 1 to 128 bits, not {bits}"))
        }
    }

    /// The number of an id such as `b3` when the token is one with this prefix.
    fn id_number(token: &Token, prefix: &str) -> Option<u32> {
        let Token::Word(word) = token else { return None };
        let digits = word.strip_prefix(prefix)?;
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain { digits.parse().ok() } else { None }
    }

    fn id(&mut self, prefix: &str, what: &str) -> Parsed<u32> {
        let Some(number) = Self::id_number(self.peek(), prefix) else { return self.expected(what) };
        self.advance();
        Ok(number)
    }

    fn reg(&mut self) -> Parsed<Reg> {
        Ok(Reg(self.id("r", "a register (`r0`)")?))
    }

    fn sized_reg(&mut self) -> Parsed<(Reg, u8)> {
        let reg = self.reg()?;
        self.expect(":")?;
        Ok((reg, self.width()?))
    }

    fn block_id(&mut self) -> Parsed<BlockId> {
        Ok(BlockId(self.id("b", "a block (`b0`)")?))
    }

    fn type_or_void(&mut self) -> Parsed<Option<SourceTypeId>> {
        if self.eat_word("void") {
            return Ok(None);
        }
        Ok(Some(SourceTypeId(self.id("t", "a type (`t0` or `void`)")?)))
    }

    fn file_or_none(&mut self) -> Parsed<Option<FileId>> {
        if self.eat_word("none") {
            return Ok(None);
        }
        Ok(Some(FileId(self.id("file", "a file (`file0` or `none`)")?)))
    }

    /// Items separated by commas up to `close`, which is taken too.
    fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.at(close) {
                self.expect(",")?;
            }
        }
        Ok(items)
    }

    fn symbol(&mut self) -> Parsed<SymbolRef> {
        let symbol = if let Token::Symbol(name) = self.peek() {
            match self.symbols.get(name) {
                Some(Some(symbol)) => *symbol,
                Some(None) => return self.error(format!("several symbols are called `@{name}`; use `f0` or `g0`")),
                None => return self.error(format!("no function or global is called `@{name}`")),
            }
        } else if let Some(number) = Self::id_number(self.peek(), "f") {
            SymbolRef::Function(FuncId(number))
        } else if let Some(number) = Self::id_number(self.peek(), "g") {
            SymbolRef::Global(GlobalId(number))
        } else {
            return self.expected("a symbol (`@name`)");
        };
        self.advance();
        match symbol {
            SymbolRef::Function(func) if self.eat(":") => Ok(SymbolRef::Block(func, self.block_id()?)),
            _ => Ok(symbol),
        }
    }
}

fn signed_value(is_negative: bool, magnitude: u128) -> Option<i64> {
    let value = i128::try_from(magnitude).ok()?;
    i64::try_from(if is_negative { -value } else { value }).ok()
}

// The module's tables.
impl Parser {
    fn items(&mut self) -> Parsed<()> {
        while *self.peek() != Token::End {
            if *self.peek() == Token::LineEnd {
                self.advance();
            } else {
                self.item()?;
            }
        }
        Ok(())
    }

    fn item(&mut self) -> Parsed<()> {
        if self.eat_word("target") {
            self.target()
        } else if self.eat_word("global") {
            let global = self.global()?;
            self.module.globals.push(global);
            self.line_end()
        } else if self.eat_word("func") {
            let function = self.function()?;
            self.module.functions.push(function);
            self.line_end()
        } else {
            self.table_entry()
        }
    }

    fn target(&mut self) -> Parsed<()> {
        if !self.module.functions.is_empty() {
            return self.error_before("`target` must stand before the functions: it fixes the width of addresses");
        }
        self.module.target.triple = self.string()?;
        self.expect_word("pointer")?;
        self.module.target.pointer_bytes = self.number()?;
        if !matches!(self.module.target.pointer_bytes, 4 | 8) {
            return self.error_before("pointers have 4 or 8 bytes");
        }
        self.line_end()
    }

    fn table_entry(&mut self) -> Parsed<()> {
        let token = self.peek().clone();
        if let Some(number) = Self::id_number(&token, "file") {
            self.entry_head(number, self.module.files.len())?;
            let path = self.string()?;
            let is_user = self.eat_word("user");
            self.module.files.push(SourceFile { path, is_user });
        } else if let Some(number) = Self::id_number(&token, "s") {
            if number == 0 && self.module.spans.len() == 1 {
                self.module.spans.clear();
            }
            self.entry_head(number, self.module.spans.len())?;
            let file = self.file_or_none()?;
            self.expect(":")?;
            let line = self.number()?;
            self.expect(":")?;
            let column = self.number()?;
            self.module.spans.push(Span { file, line, column });
        } else if let Some(number) = Self::id_number(&token, "t") {
            self.entry_head(number, self.module.types.len())?;
            let ty = self.source_type()?;
            self.module.types.push(ty);
        } else {
            return self.expected("`target`, `global`, `func`, `file0 =`, `s1 =` or `t0 =`");
        }
        self.line_end()
    }

    fn entry_head(&mut self, number: u32, next: usize) -> Parsed<()> {
        if number as usize != next {
            return self.error(format!("entries are numbered in order: {next} comes next, not {number}"));
        }
        self.advance();
        self.expect("=")
    }

    fn source_type(&mut self) -> Parsed<SourceType> {
        let word = self.word("a kind of type (`base`, `pointer`, `struct` ...)")?;
        Ok(match word.as_str() {
            "base" => {
                let (name, bytes) = self.name_and_bytes()?;
                SourceType::Base { name, bytes, kind: self.named::<BaseKind>("a kind of base type (`signed` ...)")? }
            }
            "pointer" => SourceType::Pointer { to: self.type_or_void()?, bytes: self.number()? },
            "array" => {
                let of = self.type_or_void()?;
                self.expect("[")?;
                let count = if self.at("]") { None } else { Some(self.number()?) };
                self.expect("]")?;
                SourceType::Array { of, count }
            }
            "struct" => {
                let (name, bytes) = self.name_and_bytes()?;
                let (is_complete, fields) = self.fields()?;
                SourceType::Struct { name, bytes, fields, is_complete }
            }
            "union" => {
                let (name, bytes) = self.name_and_bytes()?;
                let (is_complete, fields) = self.fields()?;
                SourceType::Union { name, bytes, fields, is_complete }
            }
            "enum" => {
                let (name, bytes) = self.name_and_bytes()?;
                self.expect("(")?;
                let values = self.list(")", |p| {
                    let name = p.string()?;
                    p.expect("=")?;
                    Ok(Enumerator { name, value: p.signed()? })
                })?;
                SourceType::Enum { name, bytes, values }
            }
            "typedef" => SourceType::Typedef { name: self.string()?, of: self.type_or_void()? },
            "const" => SourceType::Const { of: self.type_or_void()? },
            "volatile" => SourceType::Volatile { of: self.type_or_void()? },
            "qualified" => SourceType::Qualified { of: self.type_or_void()? },
            "function" => {
                let result = self.type_or_void()?;
                self.expect("(")?;
                let (params, is_variadic) = self.params(Self::type_or_void)?;
                SourceType::Function { result, params, is_variadic }
            }
            _ => return self.error_before(format!("`{word}` is no kind of type")),
        })
    }

    fn name_and_bytes(&mut self) -> Parsed<(String, u64)> {
        Ok((self.string()?, self.number()?))
    }

    fn fields(&mut self) -> Parsed<(bool, Vec<Field>)> {
        let is_complete = !self.eat_word("incomplete");
        self.expect("(")?;
        let fields = self.list(")", |p| {
            let is_bit_field = p.eat_word("bitfield");
            if !is_bit_field {
                p.expect_word("field")?;
            }
            Ok(Field {
                name: p.string()?,
                bit_offset: p.number()?,
                bits: p.number()?,
                is_bit_field,
                ty: p.type_or_void()?,
            })
        })?;
        Ok((is_complete, fields))
    }

    /// Parameters up to the closing bracket, and whether `...` ends them.
    fn params<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<(Vec<T>, bool)> {
        let mut items = Vec::new();
        loop {
            if self.eat(")") {
                return Ok((items, false));
            }
            if self.eat("...") {
                self.expect(")")?;
                return Ok((items, true));
            }
            items.push(item(self)?);
            if !self.at(")") {
                self.expect(",")?;
            }
        }
    }

    fn symbol_name(&mut self) -> Parsed<String> {
        let Token::Symbol(name) = self.peek() else { return self.expected("a name (`@name`)") };
        let name = name.clone();
        self.advance();
        Ok(name)
    }

    fn global(&mut self) -> Parsed<Global> {
        let name = self.symbol_name()?;
        self.expect_word("bytes")?;
        let mut global = Global {
            name,
            bytes: self.number()?,
            align: 1,
            init: Init::Zero,
            is_constant: false,
            ty: None,
            is_runtime: false,
        };
        loop {
            if self.eat_word("align") {
                global.align = self.number()?;
            } else if self.eat_word("const") {
                global.is_constant = true;
            } else if self.eat_word("runtime") {
                global.is_runtime = true;
            } else if self.eat_word("type") {
                global.ty = self.type_or_void()?;
            } else {
                break;
            }
        }
        if self.eat("=") {
            global.init = self.init()?;
        }
        Ok(global)
    }

    fn init(&mut self) -> Parsed<Init> {
        if self.eat_word("external") {
            return Ok(Init::External);
        }
        if self.eat_word("zero") {
            return Ok(Init::Zero);
        }
        if !self.eat_word("data") {
            return self.expected("`external`, `zero` or `data`");
        }
        let bytes = self.bytes()?;
        let relocs = if self.eat("(") { self.list(")", Self::reloc)? } else { Vec::new() };
        Ok(Init::Bytes { bytes, relocs })
    }

    fn reloc(&mut self) -> Parsed<Reloc> {
        self.expect_word("at")?;
        let offset = self.number()?;
        self.expect_word("bytes")?;
        let bytes = self.number()?;
        self.expect("=")?;
        let plus = self.symbol()?;
        let has_minus = self.at("-") && !matches!(self.peek_second(), Token::Number(_));
        let minus = if has_minus {
            self.advance();
            Some(self.symbol()?)
        } else {
            None
        };
        Ok(Reloc { offset, bytes, plus, minus, addend: self.addend()? })
    }
}

// Functions and blocks.
impl Parser {
    fn function(&mut self) -> Parsed<Function> {
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

    fn function_head(&mut self) -> Parsed<(Function, Option<u32>)> {
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

    fn body(&mut self, function: &mut Function) -> Parsed<()> {
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

    fn block(&mut self, calls: &mut CallTable) -> Parsed<Block> {
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

    fn span(&mut self) -> Parsed<SpanId> {
        if !self.eat("!") {
            return Ok(SpanId(0));
        }
        Ok(SpanId(self.id("s", "a position (`s1`)")?))
    }

    /// `None` when the line is not a terminator; nothing is taken then.
    fn terminator(&mut self) -> Parsed<Option<Terminator>> {
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

    fn branch(&mut self) -> Parsed<Terminator> {
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

    fn alternatives(&mut self) -> Parsed<(Edge, Edge)> {
        self.expect("?")?;
        let then = self.edge()?;
        self.expect(":")?;
        Ok((then, self.edge()?))
    }

    fn edge(&mut self) -> Parsed<Edge> {
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

    fn switch(&mut self) -> Parsed<Terminator> {
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

    fn ret(&mut self) -> Parsed<Terminator> {
        let mut values = Vec::new();
        if Self::id_number(self.peek(), "r").is_some() {
            values.push(self.reg()?);
            while self.eat(",") {
                values.push(self.reg()?);
            }
        }
        Ok(Terminator::Return(values.into()))
    }

    fn indirect_jump(&mut self) -> Parsed<Terminator> {
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

// Instructions.
impl Parser {
    fn operand(&mut self, bits: u8) -> Parsed<Operand> {
        if Self::id_number(self.peek(), "r").is_some() {
            return Ok(Operand::Reg(self.reg()?));
        }
        match self.peek() {
            Token::Number(_) | Token::Punct("-") => Ok(Operand::Imm(self.immediate(bits)?)),
            _ => self.expected("a register or a number"),
        }
    }

    fn reg_pair(&mut self) -> Parsed<(Reg, Reg)> {
        let a = self.reg()?;
        self.expect(",")?;
        Ok((a, self.reg()?))
    }

    fn reg_triple(&mut self) -> Parsed<(Reg, Reg, Reg)> {
        let (a, b) = self.reg_pair()?;
        self.expect(",")?;
        Ok((a, b, self.reg()?))
    }

    /// The next operand after a comma, or `default` when there is none.
    fn optional_reg(&mut self, default: Reg) -> Parsed<Reg> {
        if self.eat(",") { self.reg() } else { Ok(default) }
    }

    /// `r1:32, r2:1 =`, or nothing.
    fn destinations(&mut self) -> Parsed<Vec<Destination>> {
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

    fn inst(&mut self, calls: &mut CallTable) -> Parsed<Inst> {
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
    fn given(&self, to: &Destination) -> Parsed<u8> {
        match to.bits {
            Some(bits) => Ok(bits),
            None => self.error_before(format!("`{}` needs a width (`{}:32 = ...`)", to.reg, to.reg)),
        }
    }

    /// The register of a destination whose width the instruction fixes.
    fn implied(&self, to: &Destination, bits: u8) -> Parsed<Reg> {
        match to.bits {
            Some(given) if given != bits => {
                self.error_before(format!("this instruction gives {bits} bits, but `{}` is given {given}", to.reg))
            }
            _ => Ok(to.reg),
        }
    }

    fn pointer(&self, to: &Destination) -> Parsed<Reg> {
        self.implied(to, self.module.target.pointer_bits())
    }

    fn float_kind(&mut self) -> Parsed<FloatKind> {
        self.named("a kind of float (`half`, `single`, `double`, `extended`, `quad`)")
    }

    fn bin(&mut self, op: BinOp, to: &Destination) -> Parsed<Inst> {
        let bits = self.given(to)?;
        let nsw = self.eat_word("nsw");
        let a = self.reg()?;
        self.expect(",")?;
        Ok(match self.operand(bits)? {
            Operand::Reg(b) => Inst::Bin { op, bits, nsw, dst: to.reg, a, b },
            Operand::Imm(imm) => Inst::BinImm { op, bits, nsw, dst: to.reg, a, imm },
        })
    }

    fn cmp(&mut self, op: CmpOp, to: &Destination) -> Parsed<Inst> {
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

    fn overflow(&mut self, op: OverflowOp, destinations: &[Destination]) -> Parsed<Inst> {
        let [to, flag] = destinations else {
            return self.error_before(format!("`{0}` has two destinations (`r0:32, r1:1 = {0} ...`)", op.name()));
        };
        let (a, b) = self.reg_pair()?;
        Ok(Inst::Overflow { op, bits: self.given(to)?, dst: to.reg, flag: self.implied(flag, 1)?, a, b })
    }

    fn float_cast(&mut self, op: FloatCastOp, to: &Destination) -> Parsed<Inst> {
        let (a, from) = self.sized_reg()?;
        let kind = self.float_kind()?;
        let to_kind = if self.eat("->") { self.float_kind()? } else { kind };
        Ok(Inst::FloatCast { op, from, to: self.given(to)?, kind, to_kind, dst: to.reg, a })
    }

    /// Instructions that are not one of a family.
    fn other(&mut self, word: &str, to: &Destination) -> Parsed<Inst> {
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
    fn align_of(&mut self, bits: u8) -> Parsed<u8> {
        if self.eat_word("align") {
            return self.number();
        }
        let bytes = bits.div_ceil(8);
        Ok(if bytes.is_power_of_two() { bytes } else { 1 })
    }

    fn store(&mut self) -> Parsed<Inst> {
        let (src, bits) = self.sized_reg()?;
        self.expect("->")?;
        let addr = self.reg()?;
        Ok(Inst::Store { src, bits, align: self.align_of(bits)?, addr })
    }

    fn alloca(&mut self, to: &Destination) -> Parsed<Inst> {
        let dst = self.pointer(to)?;
        let bytes = self.number()?;
        let align = if self.eat_word("align") { self.number()? } else { 16 };
        let count = if self.eat_word("count") { Some(self.reg()?) } else { None };
        let variable = if self.eat_word("var") { Some(self.id("v", "a variable (`v0`)")?) } else { None };
        Ok(Inst::Alloca { dst, bytes, align, count, variable })
    }

    /// The rest of a call after the word `call`; enters it in the table.
    fn call(&mut self, destinations: Vec<Destination>, calls: &mut CallTable) -> Parsed<CallId> {
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

    fn callee(&mut self) -> Parsed<Callee> {
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

    fn arg(&mut self) -> Parsed<Arg> {
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
