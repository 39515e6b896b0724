//! Makes a line-up out of names, by what the entries declare.

use explore::LineUp;

use crate::{Company, Entry, Flags, Making, Named, Others, Subject};

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
    for entry in all {
        let is_named = names.iter().any(|name| name == entry.name);
        (entry.check)(flags, if is_named { Named::Yes } else { Named::No })?;
    }
    Ok(())
}

/// The line-up of these names, or what is wrong with it.
pub fn line_up(all: &[Entry], names: &[String], flags: &Flags, subject: Subject) -> Result<LineUp, String> {
    let others = if names.len() > 1 { Others::Some } else { Others::None };
    let mut line_up = LineUp::plain();
    let mut drives: Option<&str> = None;
    for name in names {
        let entry = find(all, name).ok_or_else(|| format!("there is no technique `{name}`"))?;
        if let (Company::None(why), Others::Some) = (entry.company, others) {
            return Err(format!("`{}` cannot be combined with others: {why}", entry.name));
        }
        let part = (entry.make)(&Making { flags, subject, others })?;
        line_up.techniques.push(part.technique);
        if let Some(driver) = part.driver {
            if let Some(other) = drives.replace(entry.name) {
                return Err(format!("`{other}` and `{name}` both decide what is explored when; leave one of them out"));
            }
            line_up.driver = driver;
        }
    }
    Ok(line_up)
}
