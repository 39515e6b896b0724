//! The heap of a test: objects that point to each other, as C initialisers and as a graph in JSON.

use std::fmt::Write as _;

use witness::{Field, FieldKind, InputValue, Layout};

use crate::value;

/// What `p` points to is said by name: `&n0`, `&n0.link`, `&n0[2]`; `NULL`; a number where nothing of the test is there.
pub fn target(inputs: &[InputValue], at: u64) -> String {
    if at == 0 {
        return "NULL".to_string();
    }
    let Some((object, offset)) = find(inputs, at) else { return format!("{at:#x}") };
    if &*object.ty == FUNCTION {
        return object.name.to_string();
    }
    if offset == 0 {
        return match is_array(object) {
            true => object.name.to_string(),
            false => format!("&{}", object.name),
        };
    }
    let fields = object.layout.iter().flat_map(|layout| layout.fields.iter());
    // The outermost member that begins there.
    let paths = fields.filter(|field| field.offset == offset).map(|field| &*field.path);
    match paths.min_by_key(|path| path.len()) {
        Some(path) => format!("&{}{path}", object.name),
        None => format!("(char *)&{} + {offset}", object.name),
    }
}

/// The object of the test that an address lies in, or just past which it does, and how far into it.
pub fn find(inputs: &[InputValue], at: u64) -> Option<(&InputValue, u64)> {
    let inside =
        |input: &&InputValue| input.address().is_some_and(|base| at >= base && at - base <= input.bytes.len() as u64);
    let object = inputs.iter().find(inside)?;
    Some((object, at - object.address()?))
}

/// What a pointer of a test points to without being made by it has one of these for a type.
const FUNCTION: &str = "function";
const VARIABLE: &str = "variable";

/// Whether it is part of the program: a function, or a variable whose value is none of the test's business.
pub fn is_of_program(input: &InputValue) -> bool {
    input.address().is_some() && matches!(&*input.ty, FUNCTION | VARIABLE)
}

fn is_array(input: &InputValue) -> bool {
    input.ty.ends_with(']')
}

/// The value of an input of a test as C would write it.
pub fn shown(input: &InputValue, inputs: &[InputValue]) -> String {
    match &input.layout {
        Some(_) if is_of_program(input) => format!("a {} of the program", input.ty),
        Some(layout) => initialiser(input, layout, inputs),
        None => value::describe(input),
    }
}

/// The value of an input that has a layout, as C would initialise it: `{.value = 3, .next = &n0}`.
pub fn initialiser(input: &InputValue, layout: &Layout, inputs: &[InputValue]) -> String {
    match &layout.fields[..] {
        [] => "{0}".to_string(),
        [only] if only.path.is_empty() || input.is_returned() => field_text(input, only, inputs),
        fields if fields.iter().all(|field| field.kind == FieldKind::Char && field.path.starts_with('[')) => {
            value::text(&input.bytes)
        }
        fields => {
            let parts: Vec<String> =
                fields.iter().map(|field| format!("{} = {}", field.path, field_text(input, field, inputs))).collect();
            format!("{{{}}}", parts.join(", "))
        }
    }
}

pub fn field_text(input: &InputValue, field: &Field, inputs: &[InputValue]) -> String {
    let Field { offset, n_bytes, kind, .. } = field;
    let word = input.word(*offset, *n_bytes);
    let shift = 64 - 8 * (*n_bytes).clamp(1, 8);
    match kind {
        FieldKind::Pointer => target(inputs, word),
        FieldKind::Signed | FieldKind::Char => ((word << shift) as i64 >> shift).to_string(),
        FieldKind::Unsigned => word.to_string(),
        FieldKind::Float if *n_bytes == 4 => f32::from_bits(word as u32).to_string(),
        FieldKind::Float if *n_bytes == 8 => f64::from_bits(word).to_string(),
        FieldKind::Float => format!("{word:#x}"),
    }
}

/// Appends what the layout of an input adds to its JSON object: where it lies, and its members with what they point to.
pub fn encode_layout(input: &InputValue, inputs: &[InputValue], out: &mut Vec<u8>) {
    let Some(layout) = &input.layout else { return };
    let mut text = String::new();
    if let Some(at) = layout.at {
        let _ = write!(text, ",\"at\":\"{at:#x}\"");
    }
    text.push_str(",\"fields\":[");
    for (idx, field) in layout.fields.iter().enumerate() {
        let Field { path, offset, n_bytes, kind } = field;
        let comma = if idx > 0 { "," } else { "" };
        let _ = write!(
            text,
            "{comma}{{\"name\":\"{path}\",\"offset\":{offset},\"bytes\":{n_bytes},\"kind\":\"{}\"",
            kind.name()
        );
        let word = input.word(*offset, *n_bytes);
        match find(inputs, word).filter(|_| *kind == FieldKind::Pointer && word != 0) {
            Some((object, within)) => {
                let _ = write!(text, ",\"to\":\"{}\",\"within\":{within}}}", object.name);
            }
            None if *kind == FieldKind::Pointer => {
                let _ = write!(text, ",\"to\":null}}");
            }
            None => {
                let _ = write!(text, ",\"value\":\"{}\"}}", field_text(input, field, inputs));
            }
        }
    }
    text.push(']');
    out.extend_from_slice(text.as_bytes());
}
