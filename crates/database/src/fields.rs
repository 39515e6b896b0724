//! How an input divides, as text in a column: `path,offset,bytes,kind` for each scalar, separated by blanks.

use std::sync::Arc;

use witness::{Field, FieldKind};

pub fn to_text(fields: &[Field]) -> String {
    let text = |field: &Field| format!("{},{},{},{}", field.path, field.offset, field.n_bytes, field.kind.name());
    fields.iter().map(text).collect::<Vec<String>>().join(" ")
}

pub fn from_text(text: &str) -> Arc<[Field]> {
    let field = |word: &str| {
        let mut parts = word.split(',');
        Some(Field {
            path: parts.next()?.into(),
            offset: parts.next()?.parse().ok()?,
            n_bytes: parts.next()?.parse().ok()?,
            kind: FieldKind::from_name(parts.next()?)?,
        })
    };
    text.split(' ').filter_map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_as_they_were() {
        let field = |path: &str, offset, kind| Field { path: path.into(), offset, n_bytes: 8, kind };
        let fields = [field("", 0, FieldKind::Pointer), field(".a[2].next", 24, FieldKind::Signed)];
        assert_eq!(&from_text(&to_text(&fields))[..], &fields[..]);
        assert!(from_text("").is_empty());
    }
}
