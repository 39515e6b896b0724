//! Makes a heap whole for a test: a pointer that nobody followed still points to something.

use std::collections::BTreeMap;
use std::sync::Arc;

use witness::{FieldKind, InputValue, Layout};

use super::Shapes;
use super::cells::fields;
use super::kinds::KindId;

impl Shapes {
    /// Adds the objects that pointers of a test point to and no path looked at. Nobody has read them, so their bytes are zero.
    pub(super) fn finish(&self, inputs: &mut Vec<InputValue>) {
        let mut objects = Objects::of(inputs);
        let mut next = 0;
        while next < inputs.len() {
            for at in pointers_in(&inputs[next]) {
                if !objects.has(at) {
                    let provided = self.provide(at, inputs);
                    provided.iter().for_each(|idx| objects.enter(&inputs[*idx]));
                }
            }
            next += 1;
        }
        clear_lookalikes(inputs, &objects);
    }

    /// Which of the inputs holds the address now, a new one or a larger one in place of one there was.
    fn provide(&self, at: u64, inputs: &mut Vec<InputValue>) -> Option<usize> {
        if let Some(func) = self.functions.get(&at).filter(|_| !inputs.iter().any(|input| input.address() == Some(at)))
        {
            let name = self.kinds.module().function(*func).name.as_str();
            let layout = Some(Layout { at: Some(at), fields: Arc::new([]) });
            inputs.push(InputValue { layout, ..InputValue::new(name, "function", Vec::new()) });
            return Some(inputs.len() - 1);
        }
        if !vm::INPUTS.contains(&at) {
            return None;
        }
        if let Some(landmark) = self.kinds.landmarks.iter().find(|landmark| {
            let made = self.kinds.made_of(landmark);
            at >= made.base && at < made.base + made.size
        }) {
            let (kind, base) = (self.kinds.get(landmark.kind), self.kinds.base(landmark.slot));
            let name = self.kinds.module().globals[landmark.global.idx()].name.as_str();
            let layout = Some(Layout { at: Some(base), fields: Arc::clone(&kind.fields) });
            inputs.push(InputValue { layout, ..InputValue::new(name, "variable", vec![0; kind.size as usize]) });
            return Some(inputs.len() - 1);
        }
        let slot = self.kinds.slot_near(at);
        let kind = self.kinds.kind_of_slot(slot)?;
        let base = self.kinds.base(slot);
        let whole = self.kinds.get(kind);
        if at >= base && at < base + whole.size.max(1) {
            inputs.push(self.untouched(kind, base, 1, inputs));
            return Some(inputs.len() - 1);
        }
        if at >= base
            && whole.size > 0
            && (at - base).is_multiple_of(whole.size)
            && !inputs.iter().any(|input| input.address() == Some(base))
        {
            inputs.push(self.untouched(kind, base, (at - base) / whole.size + 1, inputs));
            return Some(inputs.len() - 1);
        }
        // It lies in something around what was made for that number.
        let around = self.kinds.ids().find_map(|outer| {
            let places = self.kinds.get(outer).places.iter().filter(|(_, part)| *part == kind);
            let start = |offset: u64| base - offset;
            let fits = |offset: &u64| at >= start(*offset) && at < start(*offset) + self.kinds.get(outer).size;
            places.map(|(offset, _)| *offset).find(fits).map(|offset| (outer, offset))
        });
        let (outer, offset) = around?;
        let mut larger = self.untouched(outer, base - offset, 1, inputs);
        match inputs.iter().position(|input| input.address() == Some(base)) {
            Some(inner) => {
                let bytes = &inputs[inner].bytes;
                larger.bytes[offset as usize..][..bytes.len()].copy_from_slice(bytes);
                inputs[inner] = larger;
                Some(inner)
            }
            None => {
                inputs.push(larger);
                Some(inputs.len() - 1)
            }
        }
    }

    fn untouched(&self, kind: KindId, base: u64, n_elements: u64, inputs: &[InputValue]) -> InputValue {
        let whole = self.kinds.get(kind);
        let shown = match n_elements {
            1 => Arc::clone(&whole.fields),
            _ => fields(&[]),
        };
        let letter = whole.key.rsplit([' ', '*']).find(|word| !word.is_empty()).and_then(|word| word.chars().next());
        let letter = letter.filter(char::is_ascii_alphabetic).unwrap_or('x').to_ascii_lowercase();
        let is_free = |name: &String| !inputs.iter().any(|input| *input.name == **name);
        let name = (0..).map(|number| format!("{letter}{number}")).find(is_free).unwrap_or_default();
        let ty = if n_elements == 1 { whole.name.to_string() } else { format!("{}[{n_elements}]", whole.name) };
        InputValue {
            layout: Some(Layout { at: Some(base), fields: shown }),
            ..InputValue::new(name, ty, vec![0; (whole.size * n_elements).max(1) as usize])
        }
    }
}

/// Where the objects of a test lie: their bases, and their sizes.
#[derive(Default)]
struct Objects(BTreeMap<u64, u64>);

impl Objects {
    fn of(inputs: &[InputValue]) -> Objects {
        let mut objects = Objects::default();
        inputs.iter().for_each(|input| objects.enter(input));
        objects
    }

    /// What lies in it is part of it.
    fn enter(&mut self, input: &InputValue) {
        let Some(base) = input.address() else { return };
        let size = input.bytes.len() as u64;
        let inside: Vec<u64> = self.0.range(base..base + size.max(1)).map(|(other, _)| *other).collect();
        for other in inside {
            self.0.remove(&other);
        }
        self.0.insert(base, size);
    }

    fn below(&self, at: u64) -> Option<(u64, u64)> {
        self.0.range(..=at).next_back().map(|(base, size)| (*base, *size))
    }

    fn has(&self, at: u64) -> bool {
        self.below(at).is_some_and(|(base, size)| at < base + size.max(1))
    }

    /// Whether an address lies in one or just past its end.
    fn reach(&self, at: u64) -> bool {
        self.below(at).is_some_and(|(base, size)| at <= base + size)
    }
}

/// A native run takes every word for a pointer that could be one of the test's. Padding may have any value, so it is none that makes
/// a number look like that.
fn clear_lookalikes(inputs: &mut [InputValue], objects: &Objects) {
    for input in inputs {
        let Some(layout) = input.layout.clone() else { continue };
        for start in (0..input.bytes.len() as u64 / 8).map(|word| word * 8) {
            let word = input.word(start, 8);
            let fields = || {
                layout.fields.iter().filter(|field| field.offset < start + 8 && field.offset + field.n_bytes > start)
            };
            let is_pointer = fields().any(|field| field.kind == FieldKind::Pointer);
            if is_pointer || !objects.reach(word) {
                continue;
            }
            for offset in start..start + 8 {
                if !fields().any(|field| (field.offset..field.offset + field.n_bytes).contains(&offset)) {
                    input.bytes[offset as usize] = 0;
                }
            }
        }
    }
}

/// The addresses that are in an input by its type.
fn pointers_in(input: &InputValue) -> Vec<u64> {
    let Some(layout) = &input.layout else { return Vec::new() };
    let pointers = layout.fields.iter().filter(|field| field.kind == FieldKind::Pointer);
    pointers.map(|field| input.word(field.offset, field.n_bytes)).filter(|at| *at != 0).collect()
}
