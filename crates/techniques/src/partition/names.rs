//! What the scalars of an input are called: `count[3]`, `packet.port`, `buffer[7]`.

use ir::{Module, SourceType, SourceTypeId};

/// The name of the scalar at `offset` of an input. A byte of something the type does not describe is called by its place.
pub fn scalar_name(
    module: &Module,
    input: &str,
    ty: Option<SourceTypeId>,
    bytes: u64,
    offset: u64,
    n_scalars: usize,
) -> String {
    if n_scalars == 1 {
        return input.to_string();
    }
    let element = ty.filter(|ty| module.size_of(*ty).is_some_and(|size| size > 0 && bytes.is_multiple_of(size)));
    let Some(ty) = element else { return format!("{input}[{offset}]") };
    let size = module.size_of(ty).unwrap_or(1);
    let mut name = input.to_string();
    if size < bytes {
        name.push_str(&format!("[{}]", offset / size));
    }
    describe(module, ty, offset % size, &mut name);
    name
}

fn describe(module: &Module, ty: SourceTypeId, offset: u64, name: &mut String) {
    let rest = |name: &mut String| {
        if offset > 0 {
            name.push_str(&format!("+{offset}"));
        }
    };
    let Some(ty) = module.strip(ty) else { return rest(name) };
    match module.ty(ty) {
        SourceType::Array { of: Some(of), .. } => match module.size_of(*of).filter(|size| *size > 0) {
            Some(size) => {
                name.push_str(&format!("[{}]", offset / size));
                describe(module, *of, offset % size, name);
            }
            None => rest(name),
        },
        SourceType::Struct { fields, .. } => {
            let holds = |field: &&ir::Field| {
                let start = field.bit_offset / 8;
                !field.is_bit_field && start <= offset && offset < start + field.bits.div_ceil(8)
            };
            match fields.iter().find(holds) {
                Some(field) => {
                    if !field.name.is_empty() {
                        name.push('.');
                        name.push_str(&field.name);
                    }
                    match field.ty {
                        Some(ty) => describe(module, ty, offset - field.bit_offset / 8, name),
                        None => rest(name),
                    }
                }
                None => rest(name),
            }
        }
        SourceType::Union { .. } => name.push_str(&format!("[{offset}]")),
        _ => rest(name),
    }
}
