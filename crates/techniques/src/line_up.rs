//! Makes a line-up out of names, by what the entries declare.

use explore::LineUp;

use crate::{Entry, Flags, Making, Named, Others, Subject, Together, together};

/// The technique of that name.
pub fn find<'e>(all: &'e [Entry], name: &str) -> Option<&'e Entry> {
    all.iter().find(|entry| entry.name == name)
}

/// What can be said about names and flags before a program is loaded.
pub fn check(all: &[Entry], names: &[String], flags: &Flags) -> Result<(), String> {
    for (idx, name) in names.iter().enumerate() {
        if find(all, name).is_none() {
            let known: Vec<&str> = all.iter().map(|entry| entry.name).collect();
            return Err(format!("--with: there is no technique `{name}`; there are: {}", known.join(", ")));
        }
        if names[..idx].contains(name) {
            return Err(format!("--with: `{name}` is named twice"));
        }
    }
    check_pairs(all, names).map_err(|why| format!("--with: {why}"))?;
    for entry in all {
        let is_named = names.iter().any(|name| name == entry.name);
        (entry.check)(flags, if is_named { Named::Yes } else { Named::No })?;
    }
    Ok(())
}

/// The line-up of these names, or what is wrong with it.
pub fn line_up(all: &[Entry], names: &[String], flags: &Flags, subject: Subject) -> Result<LineUp, String> {
    check_pairs(all, names)?;
    let others = if names.len() > 1 { Others::Some } else { Others::None };
    let mut line_up = LineUp::plain();
    let mut drivers = Vec::new();
    for name in names {
        let entry = find(all, name).ok_or_else(|| format!("there is no technique `{name}`"))?;
        let part = (entry.make)(&Making { flags, subject, others })?;
        line_up.techniques.push(part.technique);
        drivers.extend(part.driver);
    }
    // The order they are named in stays among those of a kind.
    drivers.sort_by_key(|(drives, _)| *drives);
    line_up.drivers = drivers.into_iter().map(|(_, driver)| driver).collect();
    Ok(line_up)
}

/// Each technique has to go with each of the others.
fn check_pairs(all: &[Entry], names: &[String]) -> Result<(), String> {
    for (idx, one) in names.iter().enumerate() {
        for other in &names[idx + 1..] {
            if let (Together::Refused, why) = together(all, one, other) {
                return Err(format!("`{one}` and `{other}` cannot be combined: {why}"));
            }
        }
    }
    Ok(())
}
