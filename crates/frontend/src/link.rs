//! Joins the user's modules with the parts of the C library that they need: Colt's own, or a whole one in bitcode.

use rustc_hash::FxHashSet;

use crate::libc::{Libc, Width};
use crate::llvm::{Context, Linkage, Module, Value};
use crate::runtime::{FORTIFY, KEPT_BESIDE_LIBC, RUNTIME_32, RUNTIME_64, WORLD_32, WORLD_64};

/// Prefix of the library's file-local names, so that they stay recognisable after linking.
const LOCAL_PREFIX: &str = "__colt_rt.";

/// Functions that the engine itself calls are linked whether or not the program mentions them.
const ENGINE_PREFIX: &str = "__colt_";

pub(crate) struct Linked {
    pub module: Module,
    /// External names that only the library defines.
    runtime_names: FxHashSet<String>,
    roots: FxHashSet<String>,
}

impl Linked {
    pub fn is_runtime(&self, value: Value) -> bool {
        let name = value.name();
        name.starts_with(LOCAL_PREFIX) || (!value.is_local() && self.runtime_names.contains(&name))
    }

    /// Translated even when nothing refers to it.
    pub fn is_root(&self, value: Value) -> bool {
        !self.is_runtime(value) || self.roots.contains(&value.name())
    }
}

/// A name without the mark of the library.
pub(crate) fn plain_name(name: &str) -> &str {
    name.strip_prefix(LOCAL_PREFIX).unwrap_or(name)
}

/// Links the library into `module`. The user's definitions win over the library's.
pub(crate) fn link_runtime(
    context: &Context,
    module: Module,
    wanted: &[String],
    libc: Option<&Libc>,
) -> Result<Linked, String> {
    let defined = defined_names(module);
    let mut linked = Linked { module, runtime_names: FxHashSet::default(), roots: FxHashSet::default() };
    let runtime = match libc {
        None => parse_runtime(context, module, |_| true)?,
        Some(libc) => parse_libc(context, module, &defined, libc)?,
    };
    let Some(runtime) = runtime else { return Ok(linked) };
    for value in definitions(runtime).chain(runtime.aliases()) {
        let name = value.name();
        // Lists such as that of constructors, which are joined, not chosen.
        if name.starts_with("llvm.") {
            continue;
        }
        if value.is_local() {
            value.set_name(&format!("{LOCAL_PREFIX}{name}"));
            continue;
        }
        let is_root = name.starts_with(ENGINE_PREFIX) || wanted.contains(&name);
        // A discardable definition is linked only where something refers to it.
        value.set_linkage(if is_root { Linkage::LLVMWeakAnyLinkage } else { Linkage::LLVMLinkOnceAnyLinkage });
        if defined.contains(&name) {
            continue;
        }
        if is_root {
            linked.roots.insert(name.clone());
        }
        linked.runtime_names.insert(name);
    }
    context.link(module, runtime)?;
    Ok(linked)
}

fn definitions(module: Module) -> impl Iterator<Item = Value> {
    module.functions().chain(module.globals()).filter(|value| !value.is_declaration())
}

fn defined_names(module: Module) -> FxHashSet<String> {
    let values = definitions(module).chain(module.aliases());
    values.filter(|value| !value.is_local()).map(|value| value.name()).collect()
}

/// The files of Colt's own library that `is_wanted` chooses by their name.
fn parse_runtime(context: &Context, user: Module, is_wanted: impl Fn(&str) -> bool) -> Result<Option<Module>, String> {
    let files = if user.layout().pointer_bytes() == 4 { RUNTIME_32 } else { RUNTIME_64 };
    let wanted: Vec<_> = files.iter().filter(|(name, _)| is_wanted(name)).collect();
    join(context, user, wanted.iter().map(|(name, bitcode)| (*name, *bitcode)), |_| {})
}

/// The whole C library as far as the program needs it, the world below it, and those files of Colt's own library that
/// stay in force beside it.
fn parse_libc(
    context: &Context,
    user: Module,
    defined: &FxHashSet<String>,
    libc: &Libc,
) -> Result<Option<Module>, String> {
    let is_small = user.layout().pointer_bytes() == 4;
    let index = libc.index(if is_small { Width::Bits32 } else { Width::Bits64 })?;
    let Some(own) = parse_runtime(context, user, |name| KEPT_BESIDE_LIBC.contains(&name))? else { return Ok(None) };
    if let Some(fortify) = parse_runtime(context, user, |name| name == FORTIFY)? {
        let names = defined_names(fortify);
        if undefined_names(user).any(|name| names.contains(&name)) {
            context.link(own, fortify)?;
        }
    }
    let world = if is_small { WORLD_32 } else { WORLD_64 };
    let world = join(context, user, world.iter().copied(), |_| {})?;
    if let Some(world) = world {
        context.link(own, world)?;
    }
    let kept = defined_names(own);
    let mut known = defined.clone();
    known.extend(kept.iter().cloned());
    let needed: FxHashSet<String> = undefined_names(user).chain(undefined_names(own)).collect();
    let members = index.members_for(needed.iter(), &known)?;
    let members = members.iter().map(|(path, bitcode)| (path.as_str(), bitcode.as_slice()));
    if let Some(members) = join(context, user, members, |module| yield_to(&kept, module))? {
        context.link(own, members)?;
    }
    Ok(Some(own))
}

/// A member may define, beside what it is linked for, a name that Colt's own files have already: theirs wins. The
/// standard streams are variables for programs compiled with the machine's headers.
fn yield_to(kept: &FxHashSet<String>, module: Module) {
    let streams = ["stdin", "stdout", "stderr"].into_iter().filter_map(|name| module.global(name));
    streams.filter(|stream| !stream.is_declaration()).for_each(Value::set_variable);
    let values = definitions(module).chain(module.aliases()).filter(|value| !value.is_local());
    values
        .filter(|value| kept.contains(&value.name()))
        .for_each(|value| value.set_linkage(Linkage::LLVMWeakAnyLinkage));
}

pub(crate) fn undefined_names(module: Module) -> impl Iterator<Item = String> {
    module.functions().chain(module.globals()).filter(|value| value.is_declaration()).map(|value| value.name())
}

fn join<'a>(
    context: &Context,
    user: Module,
    files: impl Iterator<Item = (&'a str, &'a [u8])>,
    change: impl Fn(Module),
) -> Result<Option<Module>, String> {
    let mut whole = None;
    for (name, bitcode) in files {
        let module = context.parse(name, bitcode)?;
        module.adopt_target(user);
        change(module);
        match whole {
            None => whole = Some(module),
            Some(whole) => context.link(whole, module)?,
        }
    }
    Ok(whole)
}
