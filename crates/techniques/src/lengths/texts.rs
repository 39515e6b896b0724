//! Texts worth trying: short ones again and again, made of what the program compares bytes with, as long as its buffers or longer.

use std::collections::BTreeSet;

use ir::{Callee, CmpOp, Function, Inst, Module, SourceType, SourceTypeId, Terminator};

/// A short text, and how many bytes of it there are, again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    pub text: Vec<u8>,
    pub n_bytes: u64,
}

/// Longer texts are not tried.
const LONGEST: u64 = 8192;
/// Characters of one function, and of all together.
const MAX_CHARACTERS: usize = 10;
const MAX_WORDS: usize = 12;
const MAX_PAIRS: usize = 120;
/// Different lengths of buffers that are looked at.
const MAX_SIZES: usize = 12;
/// Numbers that do not fit into what programs read them into.
const NUMBERS: &[&str] = &["-1", "3000000000", "4294967295", "4294967290", "9999999999", "99999999999999999999"];
/// A byte that means nothing to most programs.
pub const USUAL: u8 = b'a';
const MAX_TOKENS: usize = 24;
const LONGEST_WORD: usize = 16;
/// Long for a program that has no buffers of characters.
const USUAL_LONG: u64 = 256;

/// What there is to try.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    pub repeated: Vec<Repeated>,
    /// What texts are put together from.
    pub tokens: Vec<Vec<u8>>,
    /// Longer than all buffers.
    pub long: u64,
    /// How often a byte of a text may be repeated: what does not fit into a buffer, but may fit into the next larger one.
    pub lengths: Vec<u64>,
}

/// What to try for strings of up to `most` bytes.
pub fn texts(module: &Module, most: u64) -> Texts {
    let sizes = sizes(module);
    let long = sizes.last().map_or(USUAL_LONG, |size| 2 * size + 16).min(most);
    let mut lengths: Vec<u64> = sizes.iter().map(|size| size + size / 4 + 1).chain([long]).collect();
    lengths.extend(sizes);
    lengths.retain(|length| *length <= most);
    Texts { repeated: repeated(module, most), tokens: tokens(module), long, lengths }
}

/// Words and signs that the program may look for, and what means nothing to it.
fn tokens(module: &Module) -> Vec<Vec<u8>> {
    let own = || module.functions.iter().filter(|function| !function.is_runtime);
    let mut signs: BTreeSet<u8> = own().flat_map(characters).chain(own().flat_map(searched)).collect();
    let mut words = words(module, LONGEST_WORD);
    signs.extend(words.iter().filter(|word| word.iter().all(|byte| rank(*byte) < 2)).flatten().copied());
    words.retain(|word| word.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' '));
    if module.functions.iter().any(|function| function.name.contains("scanf")) {
        words.iter_mut().for_each(|word| *word = as_read(word));
    }
    words.truncate(MAX_TOKENS);
    let mut signs: Vec<u8> = signs.into_iter().collect();
    signs.sort_by_key(|byte| (rank(*byte), *byte));
    signs.truncate(MAX_TOKENS);
    let usual = [vec![USUAL], b"1".to_vec(), b"\n".to_vec(), b" ".to_vec()];
    let mut seen = BTreeSet::new();
    let all = usual.into_iter().chain(signs.into_iter().map(|byte| vec![byte])).chain(words);
    all.filter(|token| seen.insert(token.clone())).collect()
}

/// A text that a format reads; any other word as it is.
fn as_read(format: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut bytes = format.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            text.push(byte);
            continue;
        }
        while bytes.next_if(|byte| matches!(byte, b'*' | b'0'..=b'9' | b'l' | b'h' | b'z')).is_some() {}
        match bytes.next() {
            Some(b'd' | b'i' | b'u' | b'x' | b'o') => text.push(b'1'),
            Some(b'[') => {
                let _ = bytes.by_ref().skip(1).find(|byte| *byte == b']');
                text.push(USUAL);
            }
            Some(b's' | b'c') => text.push(USUAL),
            Some(other) => text.extend([b'%', other]),
            None => text.push(b'%'),
        }
    }
    text
}

/// Characters that a function may hand to one that searches.
fn searched(function: &Function) -> Vec<u8> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let signs = insts.filter_map(|inst| match inst {
        Inst::Const { bits: 32, value, .. } => u8::try_from(*value).ok(),
        _ => None,
    });
    signs.filter(|byte| byte.is_ascii_punctuation() || matches!(byte, b' ' | b'\t')).collect()
}

/// What to try of texts that repeat, in this order.
fn repeated(module: &Module, most: u64) -> Vec<Repeated> {
    let most = most.min(LONGEST);
    let mut singles: Vec<u8> = Vec::new();
    let mut pairs: Vec<Vec<u8>> = Vec::new();
    for function in module.functions.iter().filter(|function| !function.is_runtime) {
        let characters = characters(function);
        for a in &characters {
            pairs.extend(characters.iter().filter(|b| a != *b).map(|b| vec![*a, *b]));
        }
        singles.extend(characters);
    }
    singles.sort_by_key(|byte| (rank(*byte), *byte));
    singles.dedup();
    singles.truncate(MAX_CHARACTERS * 2);
    let mut seen = BTreeSet::new();
    pairs.retain(|pair| seen.insert(pair.clone()));
    pairs.truncate(MAX_PAIRS);
    let sizes = sizes(module);
    let lengths = lengths(&sizes, most);
    let far: Vec<u64> = [sizes.first(), sizes.get(sizes.len() / 2), sizes.last()]
        .into_iter()
        .flatten()
        .map(|size| 2 * size + 16)
        .chain([most])
        .filter(|length| *length <= most)
        .collect::<BTreeSet<u64>>()
        .into_iter()
        .collect();
    let mut all = Vec::new();
    let mut add = |text: &[u8], lengths: &[u64]| {
        all.extend(lengths.iter().map(|n_bytes| Repeated { text: text.to_vec(), n_bytes: *n_bytes }));
    };
    NUMBERS.iter().for_each(|number| add(number.as_bytes(), &[(number.len() as u64).min(most)]));
    singles.push(USUAL);
    pairs.insert(0, vec![USUAL, b' ']);
    singles.iter().for_each(|byte| add(&[*byte], &lengths));
    pairs.iter().for_each(|pair| add(pair, &far));
    let words = words(module, 8).into_iter().filter(|word| word.len() > 1 && !word.ends_with(b"\n"));
    words.take(MAX_WORDS).for_each(|word| add(&word, &far));
    all
}

/// Characters that a function compares something with, the likeliest first.
fn characters(function: &Function) -> Vec<u8> {
    let mut found = BTreeSet::new();
    let mut compared = |bits: u8, value: u64| {
        let is_text = |byte: &u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        if let (8 | 32, Some(byte)) = (bits, u8::try_from(value).ok().filter(is_text)) {
            found.insert(byte);
        }
    };
    for block in &function.blocks {
        for inst in &block.insts {
            if let Inst::CmpImm { op: CmpOp::Eq | CmpOp::Ne, bits, imm, .. } = inst {
                compared(*bits, *imm);
            }
        }
        match &block.terminator {
            Terminator::CmpImmBranch { op: CmpOp::Eq | CmpOp::Ne, bits, imm, .. } => compared(*bits, *imm),
            Terminator::Switch { bits, cases, .. } => cases.iter().for_each(|(value, _)| compared(*bits, *value)),
            _ => {}
        }
    }
    let mut found: Vec<u8> = found.into_iter().collect();
    found.sort_by_key(|byte| (rank(*byte), *byte));
    found.truncate(MAX_CHARACTERS);
    found
}

/// Signs before blanks before letters and digits.
fn rank(byte: u8) -> u8 {
    match byte {
        _ if byte.is_ascii_punctuation() => 0,
        _ if byte.is_ascii_alphanumeric() => 2,
        _ => 1,
    }
}

/// Short strings that the program has.
fn words(module: &Module, longest: usize) -> Vec<Vec<u8>> {
    let mut found = BTreeSet::new();
    for global in module.globals.iter().filter(|global| !global.is_runtime && global.is_constant) {
        let ir::Init::Bytes { bytes, relocs } = &global.init else { continue };
        let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        let is_text = text.iter().all(|byte| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        if relocs.is_empty() && is_text && (1..=longest).contains(&text.len()) {
            found.insert(text.to_vec());
        }
    }
    found.into_iter().collect()
}

/// How large the buffers of characters are that the program itself declares or allocates.
fn sizes(module: &Module) -> Vec<u64> {
    let mut sizes = BTreeSet::new();
    let own = |function: &&Function| !function.is_runtime;
    let globals = module.globals.iter().filter(|global| !global.is_runtime && !global.is_constant);
    let mut open: Vec<SourceTypeId> = globals.filter_map(|global| global.ty).collect();
    for function in module.functions.iter().filter(own) {
        open.extend(function.variables.iter().filter_map(|variable| variable.ty));
        let is_allocator = |call: &ir::Call| match call.callee {
            Callee::Function(func) => matches!(&*module.function(func).name, "malloc" | "calloc" | "realloc"),
            _ => false,
        };
        if function.calls.iter().any(is_allocator) {
            let insts = function.blocks.iter().flat_map(|block| &block.insts);
            sizes.extend(insts.filter_map(|inst| match inst {
                Inst::Const { bits: 64, value, .. } => Some(*value),
                _ => None,
            }));
        }
    }
    let mut seen = BTreeSet::new();
    while let Some(ty) = open.pop() {
        let Some(ty) = module.strip(ty).filter(|ty| seen.insert(*ty)) else { continue };
        match module.ty(ty) {
            SourceType::Array { of: Some(of), count: Some(count) } => match module.size_of(*of) {
                Some(1) => _ = sizes.insert(*count),
                _ => open.push(*of),
            },
            SourceType::Struct { fields, .. } => open.extend(fields.iter().filter_map(|field| field.ty)),
            _ => {}
        }
    }
    sizes.retain(|size| (4..=LONGEST).contains(size));
    let step = sizes.len().div_ceil(MAX_SIZES).max(1);
    sizes.into_iter().step_by(step).collect()
}

/// Lengths that do not fit into the program's buffers, by one byte and by far.
fn lengths(sizes: &[u64], most: u64) -> Vec<u64> {
    let mut lengths: BTreeSet<u64> = sizes.iter().flat_map(|size| [size + 1, 2 * size + 16]).collect();
    lengths.insert(most);
    lengths.into_iter().filter(|length| *length <= most).collect()
}
