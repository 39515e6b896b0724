//! Joins the user's modules with the parts of Colt's own C library that they need.

use rustc_hash::FxHashSet;

use crate::llvm::{Context, Linkage, Module, Value};
use crate::runtime::{RUNTIME_32, RUNTIME_64};

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
pub(crate) fn link_runtime(context: &Context, module: Module, wanted: &[String]) -> Result<Linked, String> {
    let defined: FxHashSet<String> = definitions(module).filter(|value| !value.is_local()).map(|value| value.name()).collect();
    let mut linked = Linked { module, runtime_names: FxHashSet::default(), roots: FxHashSet::default() };
    let Some(runtime) = parse_runtime(context, module)? else { return Ok(linked) };
    for value in definitions(runtime).chain(runtime.aliases()) {
        let name = value.name();
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

fn parse_runtime(context: &Context, user: Module) -> Result<Option<Module>, String> {
    let files = if user.layout().pointer_bytes() == 4 { RUNTIME_32 } else { RUNTIME_64 };
    let mut whole = None;
    for (name, bitcode) in files {
        let module = context.parse(name, bitcode)?;
        module.adopt_target(user);
        match whole {
            None => whole = Some(module),
            Some(whole) => context.link(whole, module)?,
        }
    }
    Ok(whole)
}
