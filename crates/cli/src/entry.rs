//! What the native build has to know about the entry: how to call it.

use std::path::PathBuf;

use frontend::{HarnessKind, Program};
use ir::{Function, Module, SourceType, SourceTypeId};
use replay::{Entry, Param, ParamKind};

pub fn entry(program: &Program) -> Entry {
    let Some(harness) = &program.harness else { return Entry::Main };
    match harness.kind {
        HarnessKind::Fuzzer => Entry::LibFuzzer,
        HarnessKind::Typed => Entry::Harness {
            text: harness.text.clone(),
            file: harness.replaces.clone().unwrap_or_default(),
            defines: harness.defines.clone(),
        },
        HarnessKind::Function => {
            let module = &program.module;
            let function = module.find_function(&program.entry_name).map(|func| module.function(func));
            Entry::Function {
                name: program.entry_name.clone(),
                params: function.map_or_else(Vec::new, |function| params(module, function)),
                file: harness.replaces.clone().unwrap_or_else(|| defining_file(module, function)),
            }
        }
    }
}

fn defining_file(module: &Module, function: Option<&Function>) -> PathBuf {
    let file = function.and_then(|function| function.file);
    file.map_or_else(PathBuf::new, |file| PathBuf::from(&module.files[file.idx()].path))
}

fn params(module: &Module, function: &Function) -> Vec<Param> {
    let types: &[Option<SourceTypeId>] = match function.signature.map(|signature| module.ty(signature)) {
        Some(SourceType::Function { params, .. }) => params,
        _ => &[],
    };
    function.param_names.iter().zip(types).map(|(name, ty)| param(module, name, *ty)).collect()
}

fn param(module: &Module, name: &str, ty: Option<SourceTypeId>) -> Param {
    let stripped = ty.and_then(|ty| module.strip(ty)).map(|ty| module.ty(ty));
    match stripped {
        // Any object pointer converts from `void *` without a cast, whatever it points to.
        Some(SourceType::Pointer { .. } | SourceType::Array { .. }) => {
            Param { name: name.to_string(), ty: "void *".to_string(), kind: ParamKind::Pointer }
        }
        _ => Param { name: name.to_string(), ty: module.spell(ty), kind: ParamKind::Value },
    }
}
