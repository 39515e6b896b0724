//! The module's tables: target, files, positions, types, globals.

use super::{Parsed, Parser};
use crate::lex::Token;
use crate::{BaseKind, Enumerator, Field, Global, Init, Reloc, SourceFile, SourceType, Span};

impl Parser {
    pub(super) fn items(&mut self) -> Parsed<()> {
        while *self.peek() != Token::End {
            if *self.peek() == Token::LineEnd {
                self.advance();
            } else {
                self.item()?;
            }
        }
        Ok(())
    }

    pub(super) fn item(&mut self) -> Parsed<()> {
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

    pub(super) fn target(&mut self) -> Parsed<()> {
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

    pub(super) fn table_entry(&mut self) -> Parsed<()> {
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

    pub(super) fn entry_head(&mut self, number: u32, next: usize) -> Parsed<()> {
        if number as usize != next {
            return self.error(format!("entries are numbered in order: {next} comes next, not {number}"));
        }
        self.advance();
        self.expect("=")
    }

    pub(super) fn source_type(&mut self) -> Parsed<SourceType> {
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

    pub(super) fn name_and_bytes(&mut self) -> Parsed<(String, u64)> {
        Ok((self.string()?, self.number()?))
    }

    pub(super) fn fields(&mut self) -> Parsed<(bool, Vec<Field>)> {
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
    pub(super) fn params<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<(Vec<T>, bool)> {
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

    pub(super) fn symbol_name(&mut self) -> Parsed<String> {
        let Token::Symbol(name) = self.peek() else { return self.expected("a name (`@name`)") };
        let name = name.clone();
        self.advance();
        Ok(name)
    }

    pub(super) fn global(&mut self) -> Parsed<Global> {
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

    pub(super) fn init(&mut self) -> Parsed<Init> {
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

    pub(super) fn reloc(&mut self) -> Parsed<Reloc> {
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
