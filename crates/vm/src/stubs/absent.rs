//! What lies outside of one process: other processes, sockets, shared memory. Where a whole C library is linked its
//! functions run and find nothing there; the ledger says so at the call, and what to do about it. Without one such a call
//! is a gap.

use ir::{Call, FuncId};
use witness::LedgerKind;

use super::{Stub, done};
use crate::run::{Machine, Next, Step};
use crate::{State, Value};

const PROCESS: &str = "other processes are not explored: give the child's code an entry of its own (--entry)";
const SOCKET: &str =
    "there is no network: let the program read a file or standard input instead (--sym-file, --sym-stdin)";
const SHARED: &str = "memory is not shared with other processes: use memory of the process's own";

macro_rules! absent {
    ($($why:ident: $($name:literal)*;)*) => {
        &[
            ("system", |machine, state, call, _| machine.command(state, call)),
            $($(($name, |machine, state, call, func| machine.absent(state, call, func, $why)),)*)*
        ]
    };
}

pub const STUBS: &[(&str, Stub)] = absent! {
    PROCESS: "fork" "vfork" "_Fork" "popen" "posix_spawn" "posix_spawnp" "execl" "execlp" "execle" "execv" "execvp" "execvpe"
        "execve" "fexecve" "wait" "waitpid" "wait3" "wait4" "waitid" "ptrace" "daemon" "forkpty" "openpty";
    SOCKET: "socket" "socketpair" "connect" "bind" "listen" "accept" "accept4" "getaddrinfo" "gethostbyname"
        "gethostbyaddr" "send" "sendto" "sendmsg" "recv" "recvfrom" "recvmsg" "getsockopt" "setsockopt" "shutdown";
    SHARED: "shm_open" "shm_unlink" "shmget" "shmat" "shmdt" "shmctl" "semget" "semop" "semctl" "msgget" "msgsnd" "msgrcv"
        "msgctl" "mq_open" "sem_open";
};

impl Machine<'_> {
    fn absent(&mut self, state: &mut State, call: &Call, func: FuncId, why: &str) -> Step<Option<Next>> {
        let _ = call;
        let message = format!("`{}`: {why}", self.function_name(func));
        if self.image.module.function(func).is_declaration() {
            return Err(self.gap(state, message));
        }
        self.note(state, LedgerKind::UnmodelledBehaviour, message);
        Ok(None)
    }

    /// No command is run; what one leaves behind is an input, natively too.
    fn command(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let request = self.input_request(state, "system".into(), "int".into(), None, 4);
        let record = self.plan_scalar(state, &request)?;
        let (term, label) = self.record_term(&record);
        self.note(state, LedgerKind::UnmodelledBehaviour, "system: no command is run; its status is an input");
        let value = Value::of_term(&self.terms, term, label);
        state.inputs.push_back(record);
        self.give(state, call, value);
        done()
    }
}
