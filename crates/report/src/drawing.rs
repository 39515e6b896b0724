//! Draws the heap of a test as a picture of boxes and arrows (SVG, no script).

use std::collections::HashMap;
use std::fmt::Write as _;

use witness::{Field, FieldKind, InputValue};

use crate::heap::{field_text, find, is_of_program};

const BOX_WIDTH: usize = 190;
const COLUMN: usize = 250;
const LINE: usize = 17;
const ROOM: usize = 24;
/// Members of one object that are drawn.
const MAX_FIELDS: usize = 12;

/// Where a box stands.
struct Spot {
    x: usize,
    y: usize,
    n_lines: usize,
}

/// The picture; nothing where there is no heap. Pointers that are inputs stand left, what they lead to right of them.
pub fn heap(inputs: &[InputValue]) -> Option<String> {
    if !inputs.iter().any(|input| input.address().is_some()) {
        return None;
    }
    let columns = columns(inputs);
    let mut bottoms: HashMap<usize, usize> = HashMap::new();
    let mut spots: Vec<Option<Spot>> = Vec::new();
    for (input, column) in inputs.iter().zip(&columns) {
        let Some(column) = column else {
            spots.push(None);
            continue;
        };
        let bottom = bottoms.entry(*column).or_insert(ROOM / 2);
        let n_lines = 1 + fields(input).len();
        spots.push(Some(Spot { x: column * COLUMN + 8, y: *bottom, n_lines }));
        *bottom += n_lines * LINE + ROOM;
    }
    let width = columns.iter().flatten().max().map_or(0, |column| (column + 1) * COLUMN);
    let height = bottoms.values().max().copied().unwrap_or(0);
    let mut svg = format!(
        "<svg class=\"heap\" role=\"img\" aria-label=\"the heap of the test\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"12\"><defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" \
         refY=\"4\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>"
    );
    for (input, spot) in inputs.iter().zip(&spots) {
        if let Some(spot) = spot {
            draw(input, spot, inputs, &spots, &mut svg);
        }
    }
    svg.push_str("</svg>");
    Some(svg)
}

fn fields(input: &InputValue) -> &[Field] {
    let fields = input.layout.as_ref().map_or(&[][..], |layout| &layout.fields[..]);
    &fields[..fields.len().min(MAX_FIELDS)]
}

/// How many steps each input is from those that no pointer leads to; none for what is not part of the heap.
fn columns(inputs: &[InputValue]) -> Vec<Option<usize>> {
    let mut columns: Vec<Option<usize>> =
        inputs.iter().map(|input| (input.layout.is_some() && input.address().is_none()).then_some(0)).collect();
    let mut open: Vec<usize> = (0..inputs.len()).filter(|idx| columns[*idx].is_some()).collect();
    let mut next = 0;
    while next < open.len() {
        let here = open[next];
        next += 1;
        for target in targets(&inputs[here], inputs) {
            if columns[target].is_none() {
                columns[target] = columns[here].map(|column| column + 1);
                open.push(target);
            }
        }
    }
    for (column, input) in columns.iter_mut().zip(inputs) {
        if column.is_none() && input.address().is_some() {
            *column = Some(1);
        }
    }
    columns
}

fn targets(input: &InputValue, inputs: &[InputValue]) -> Vec<usize> {
    let pointers = fields(input).iter().filter(|field| field.kind == FieldKind::Pointer);
    pointers.filter_map(|field| target(input, field, inputs)).collect()
}

fn target(input: &InputValue, field: &Field, inputs: &[InputValue]) -> Option<usize> {
    let word = input.word(field.offset, field.n_bytes);
    let (object, _) = find(inputs, word).filter(|(object, _)| word != 0 && !is_of_program(object))?;
    inputs.iter().position(|other| std::ptr::eq(other, object))
}

fn draw(input: &InputValue, spot: &Spot, inputs: &[InputValue], spots: &[Option<Spot>], svg: &mut String) {
    let Spot { x, y, n_lines } = spot;
    let (height, name) = (n_lines * LINE + 4, escape(&input.name));
    let _ = write!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" height=\"{height}\" rx=\"3\" fill=\"none\" stroke=\"currentColor\"/>\
         <text x=\"{}\" y=\"{}\" font-weight=\"bold\">{name}: {}</text>",
        x + 6,
        y + LINE - 3,
        escape(&input.ty)
    );
    for (line, field) in fields(input).iter().enumerate() {
        let middle = y + (line + 1) * LINE + LINE - 3;
        let path = if input.is_returned() { "" } else { &field.path };
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{middle}\">{} = {}</text>",
            x + 6,
            escape(path),
            escape(&field_text(input, field, inputs))
        );
        let to = target(input, field, inputs).filter(|_| field.kind == FieldKind::Pointer);
        if let Some(Spot { x: to_x, y: to_y, .. }) = to.and_then(|to| spots[to].as_ref()) {
            let (from_x, from_y) = (x + BOX_WIDTH, middle - 4);
            let _ = write!(
                svg,
                "<path d=\"M{from_x},{from_y} C{},{from_y} {},{} {to_x},{}\" fill=\"none\" stroke=\"currentColor\" \
                 marker-end=\"url(#tip)\"/>",
                from_x + 30,
                to_x.saturating_sub(30),
                to_y + 8,
                to_y + 8
            );
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
