"use strict";
// Runs the WebAssembly Lean with nothing but a read-only library and one scratch folder.
//
//   node FLAGS launcher.js --glue SLIM --wasm WASM --library DIR [MODE] -- LEAN ARGUMENTS
//
// MODE is absent (run `lean` with the arguments), `--capture DIR` (run, and write the memory to
// DIR/pages and DIR/state.json when the program first reads standard input) or `--restore DIR`
// (answer requests from such a memory; no Lean arguments then). The working directory is the
// scratch folder. Inside, the library is /lean, the scratch folder is /work, and there is nothing
// else of the host. The same file is the main script of every thread.
//
// The border between the program and the host is the import table of lean.wasm, because untrusted
// code that runs in Lean's interpreter can be brought to own the whole linear memory. So each
// import is named below, as passed on, replaced, or refused; one that is not named stops the start.

const fs = require("fs");
const posix = require("path").posix;
const threads = require("worker_threads");

const EXIT_TRAP = 86; // the memory of the program may be damaged
const EXIT_BY_PROGRAM = 87; // elaborated code ended the process between a request and its reply
const EXIT_START = 88; // the program could not be started or restored

const PAGE = 65536;
const STACK_BYTES = 256 << 20; // of linear memory; V8's own limit is meant to be met first
const THREAD_STACK_MB = 64; // of native stack for each thread

// Addresses in lean.wasm, found by comparing static data before and after a finalisation; the
// package is pinned by hash, so they hold. The word is the task manager's pointer.
const TASK_MANAGER = 1535056;

const isMain = threads.isMainThread;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

function parseArguments(argv) {
  const options = { glue: "", wasm: "", library: "", capture: "", restore: "" };
  let i = 0;
  for (; i < argv.length && argv[i] !== "--"; i += 2) {
    const name = argv[i].slice(2);
    if (!(name in options) || argv[i + 1] === undefined) fail(`unknown argument ${argv[i]}`);
    options[name] = argv[i + 1];
  }
  return { ...options, args: argv.slice(i + 1), scratch: process.cwd() };
}

// ---------------------------------------------------------------------------------------------
// The host's standard streams, unbuffered and as bytes.

const nap = new Int32Array(new SharedArrayBuffer(4));

function retry(operation) {
  for (;;) {
    try {
      return operation();
    } catch (error) {
      if (error.code !== "EAGAIN" && error.code !== "EINTR") throw error;
      Atomics.wait(nap, 0, 0, 2);
    }
  }
}

function writeAll(fd, bytes) {
  for (let at = 0; at < bytes.length; ) at += retry(() => fs.writeSync(fd, bytes, at));
}

function readSome(bytes) {
  try {
    return retry(() => fs.readSync(0, bytes, 0, bytes.length, null));
  } catch (error) {
    if (error.code === "EOF") return 0;
    throw error;
  }
}

// This build of Lean traces its own start on standard error; the lines have these beginnings.
const TRACE = [/^\[DEBUG[:\]]/, /^LLVM Profile Error: /, /^ {2}- \/.*\.olean$/, /^ {2}mainModule\? = /];
let errorLine = [];

function writeError(bytes) {
  let from = 0;
  for (let end; (end = bytes.indexOf(10, from)) >= 0; from = end + 1) {
    const line = Buffer.concat([...errorLine, bytes.subarray(from, end)]);
    errorLine = [];
    const text = line.toString("latin1");
    if (!TRACE.some((pattern) => pattern.test(text))) writeAll(2, Buffer.concat([line, NEWLINE]));
  }
  if (from < bytes.length) errorLine.push(Buffer.from(bytes.subarray(from)));
}

const NEWLINE = Buffer.from("\n");

function note(text) {
  if (errorLine.length) writeError(NEWLINE);
  writeAll(2, encoder.encode(`lemmata: ${text.replace(/\s+/g, " ").slice(0, 500)}\n`));
}

function fail(text) {
  note(`start: ${text}`);
  process.exit(EXIT_START);
}

function describe(error) {
  if (typeof error === "number") return `uncaught C++ exception at ${error}`;
  if (error?.errno !== undefined && !(error instanceof Error)) return `file error ${error.errno}`;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

function trap(error) {
  note(`trap: ${describe(error)}`);
  process.exit(EXIT_TRAP);
}

// ---------------------------------------------------------------------------------------------
// Views of the program's memory. It may grow at any call, so views are made when needed.

let program = null; // what the glue attaches: memory, exports, file system, ...

const bytesAt = (address, length) => new Uint8Array(program.memory.buffer, address >>> 0, length);
const words = () => new Uint32Array(program.memory.buffer);
const word = (address) => words()[address >>> 2];
const setWord = (address, value) => void (words()[address >>> 2] = value);

function textAt(address) {
  const memory = new Uint8Array(program.memory.buffer);
  const end = memory.indexOf(0, address >>> 0);
  return decoder.decode(memory.slice(address >>> 0, end));
}

function newText(text) {
  const bytes = encoder.encode(text);
  const address = program.exports.malloc(bytes.length + 1);
  bytesAt(address, bytes.length).set(bytes);
  bytesAt(address + bytes.length, 1)[0] = 0;
  return address;
}

// ---------------------------------------------------------------------------------------------
// Imports. Error numbers are those of WASI, negative where Linux would return them so.

const EACCES = 2, EBADF = 8, EINVAL = 28, EISDIR = 31, ENOENT = 44, ENOSYS = 52, ENOTDIR = 54;
const EPERM = 63, EROFS = 69, EXDEV = 75;

// Passed on to the glue: exceptions and calls through the table, clocks, memory growth, threads,
// the end of the program, and the virtual file system (which holds the scratch folder).
const PASSED = new Set(`
  __cxa_find_matching_catch_2 __cxa_find_matching_catch_3 __cxa_find_matching_catch_4
  __cxa_find_matching_catch_6 __cxa_find_matching_catch_19 __resumeException __cxa_throw
  __cxa_begin_catch __cxa_end_catch __cxa_rethrow __cxa_uncaught_exceptions
  __cxa_current_primary_exception __cxa_rethrow_primary_exception llvm_eh_typeid_for
  _emscripten_throw_longjmp __call_sighandler __assert_fail _abort_js exit proc_exit
  emscripten_asm_const_int
  emscripten_get_now emscripten_date_now clock_res_get clock_time_get _tzset_js _timegm_js
  _mktime_js _localtime_js _gmtime_js random_get
  emscripten_get_heap_max emscripten_resize_heap
  _emscripten_init_main_thread_js _emscripten_thread_mailbox_await
  _emscripten_thread_set_strongref _emscripten_receive_on_main_thread_js
  _emscripten_notify_mailbox_postmessage emscripten_check_blocking_allowed __pthread_create_js
  _emscripten_thread_cleanup _emscripten_thread_exit_joinable emscripten_unwind_to_js_event_loop
  _emscripten_runtime_keepalive_clear
  __syscall_openat __syscall_faccessat __syscall_chdir __syscall_fchdir __syscall_getcwd
  __syscall_stat64 __syscall_lstat64 __syscall_fstat64 __syscall_newfstatat __syscall_getdents64
  __syscall_mkdirat __syscall_unlinkat __syscall_rmdir __syscall_renameat __syscall_readlinkat
  __syscall_ftruncate64 __syscall_truncate64 __syscall_utimensat __syscall_fallocate
  __syscall_fadvise64 __syscall_fdatasync __syscall_fcntl64 __syscall_ioctl
  fd_close fd_read fd_write fd_seek fd_sync fd_pread fd_pwrite fd_fdstat_get
`.trim().split(/\s+/));

// Names that only the table of calls between threads has.
const PASSED_BETWEEN_THREADS = new Set(["exitOnMainThread", "pthreadCreateProxied"]);

function refusal(name) {
  return () => {
    throw new Error(`the program called ${name}, which is closed`);
  };
}

// Refused: what each returns, or undefined where only an end of the process is honest.
const REFUSED = {
  // Commands, code loading, host services of a browser.
  _emscripten_system: -ENOSYS,
  _dlopen_js: 0,
  _emscripten_dlopen_js: 0,
  _dlsym_catchup_js: 0,
  _emscripten_dlsync_threads: undefined,
  _emscripten_dlsync_threads_async: undefined,
  emscripten_promise_create: undefined,
  emscripten_promise_destroy: undefined,
  emscripten_promise_resolve: undefined,
  emscripten_wget_data: undefined,
  emscripten_set_canvas_element_size: undefined,
  _emscripten_get_last_deviceorientation_event: undefined,
  _emscripten_get_last_devicemotion_event: undefined,
  _emscripten_get_last_mouse_event: undefined,
  _emscripten_log_formatted: undefined,
  emscripten_set_timeout: undefined,
  _setitimer_js: -1,
  // Links could point out of the scratch folder; modes could make a file set-user-id.
  __syscall_symlinkat: -EPERM,
  __syscall_mknodat: -EPERM,
  __syscall_chmod: -EPERM,
  __syscall_fchmod: -EPERM,
  __syscall_fchmodat2: -EPERM,
  __syscall_fchownat: -EPERM,
  __syscall_fchown32: -EPERM,
  // Not needed by Lean.
  __syscall_dup: -ENOSYS,
  __syscall_dup3: -ENOSYS,
  __syscall_pipe: -ENOSYS,
  __syscall_poll: -ENOSYS,
  __syscall__newselect: -ENOSYS,
  __syscall_statfs64: -ENOSYS,
  __syscall_fstatfs64: -ENOSYS,
  _mmap_js: -ENOSYS,
  _msync_js: -ENOSYS,
  _munmap_js: -ENOSYS,
  // Network.
  __syscall_accept4: -ENOSYS,
  __syscall_bind: -ENOSYS,
  __syscall_connect: -ENOSYS,
  __syscall_getpeername: -ENOSYS,
  __syscall_getsockname: -ENOSYS,
  __syscall_getsockopt: -ENOSYS,
  __syscall_listen: -ENOSYS,
  __syscall_recvfrom: -ENOSYS,
  __syscall_recvmsg: -ENOSYS,
  __syscall_sendmsg: -ENOSYS,
  __syscall_sendto: -ENOSYS,
  __syscall_socket: -ENOSYS,
  getaddrinfo: -4,
  getnameinfo: -4,
  _emscripten_lookup_name: 0,
  // libuv was not linked into this build.
  uv__hrtime: undefined,
  uv__fs_event_close: undefined,
  uv__io_poll: undefined,
  uv__platform_invalidate_fd: undefined,
  uv__platform_loop_init: -ENOSYS,
  uv__platform_loop_delete: undefined,
  uv__io_fork: -ENOSYS,
  uv__io_check_fd: -ENOSYS,
  lean_uv_tcp_wait_readable: undefined,
  lean_uv_tcp_cancel_recv: undefined,
  lean_uv_tcp_try_accept: undefined,
  lean_uv_udp_wait_readable: undefined,
  lean_uv_udp_cancel_recv: undefined,
};

// Addresses of imported functions that the program may hold; the others (OpenGL, OpenAL, the
// console) stay null, so that calling one traps.
const PASSED_BY_ADDRESS = new Set(["__cxa_throw", "__cxa_end_catch", "__cxa_rethrow", "exit"]);

const ENVIRONMENT = ["LEAN_PATH=/lean"];

// The program and Lean's own symbol lookup may only name what Lean's compiler and runtime define.
const SYMBOL = /^(l_|lean_|initialize_|_init_)/;
const symbols = new Map(); // name -> index in the function table, or address of a constant

let standardInput = readSome;

function own(glue) {
  return {
    _dlsym_js(handle, name) {
      const symbol = textAt(name);
      const found = symbols.get(symbol);
      if (found === undefined) program.dlSetError(`unknown symbol ${symbol}`);
      return found ?? 0;
    },
    _emscripten_get_progname(buffer, size) {
      bytesAt(buffer, size).set(encoder.encode("lean\0").subarray(0, size));
    },
    emscripten_num_logical_cores: () => 1,
    // Called by whoever waits for a thread that crashed.
    emscripten_exit_with_live_runtime() {
      throw new Error("a thread crashed");
    },
    environ_sizes_get(count, size) {
      setWord(count, ENVIRONMENT.length);
      setWord(size, ENVIRONMENT.reduce((sum, text) => sum + encoder.encode(text).length + 1, 0));
      return 0;
    },
    environ_get(table, buffer) {
      ENVIRONMENT.forEach((text, i) => {
        const bytes = encoder.encode(text + "\0");
        setWord(table + 4 * i, buffer);
        bytesAt(buffer, bytes.length).set(bytes);
        buffer += bytes.length;
      });
      return 0;
    },
    ...standardStreams(glue),
    ...libraryFiles({ ...glue, ...standardStreams(glue) }),
  };
}

function slices(table, count) {
  const all = [];
  for (let i = 0; i < count; i++) all.push([word(table + 8 * i), word(table + 8 * i + 4)]);
  return all;
}

function standardStreams(glue) {
  return {
    fd_read(fd, table, count, done) {
      if (fd !== 0) return glue.fd_read(fd, table, count, done);
      const [address, length] = slices(table, count).find(([, n]) => n > 0) ?? [0, 0];
      setWord(done, length ? standardInput(bytesAt(address, length)) : 0);
      return 0;
    },
    fd_write(fd, table, count, done) {
      if (fd !== 1 && fd !== 2) return glue.fd_write(fd, table, count, done);
      const parts = slices(table, count).map(([address, n]) => Buffer.from(bytesAt(address, n)));
      const bytes = Buffer.concat(parts);
      if (fd === 1) standardOutput(bytes);
      else writeError(bytes);
      setWord(done, bytes.length);
      return 0;
    },
    fd_close: (fd) => (fd <= 2 ? 0 : glue.fd_close(fd)),
  };
}

// ---------------------------------------------------------------------------------------------
// The library. Threads reach the virtual file system only through the main thread, at 0.7 ms a
// call; the library is therefore read here, by whichever thread asks, and nothing is writable.

const LIBRARY = "/lean";
const FIRST_LIBRARY_FD = 1 << 20;
const libraryOpen = new Map(); // fd -> {nfd, path, position, names}
let nextLibraryFd = FIRST_LIBRARY_FD * (1 + threads.threadId);

function hostPath(name) {
  if (!name.startsWith("/")) return null;
  const path = posix.normalize(name);
  if (path !== LIBRARY && !path.startsWith(`${LIBRARY}/`)) return null;
  return options.library + path.slice(LIBRARY.length);
}

const NUMBERS = { ENOENT, ENOTDIR, EISDIR, EACCES, ENAMETOOLONG: 37, ELOOP: 32 };

function attempt(operation) {
  try {
    return operation();
  } catch (error) {
    if (error.code === undefined) throw error;
    return -(NUMBERS[error.code] ?? EACCES);
  }
}

function writeStatus(buffer, stat) {
  stat.mode = (stat.mode & 0o170000) | (stat.isDirectory() ? 0o555 : 0o444);
  stat.uid = stat.gid = 0;
  return program.SYSCALLS.writeStat(buffer, stat);
}

function libraryFiles(glue) {
  const stat = (host, buffer) => attempt(() => writeStatus(buffer, fs.statSync(host)));
  const file = (fd) => libraryOpen.get(fd);
  const readInto = (open, table, count, done, position) => {
    if (open.nfd === null) return EISDIR;
    let total = 0;
    for (const [address, length] of slices(table, count)) {
      const got = fs.readSync(open.nfd, bytesAt(address, length), 0, length, position + total);
      total += got;
      if (got < length) break;
    }
    setWord(done, total);
    return total;
  };
  const path1 = (name) => (path, ...rest) =>
    hostPath(textAt(path)) === null ? glue[name](path, ...rest) : -EROFS;
  const path2 = (name) => (dir, path, ...rest) =>
    hostPath(textAt(path)) === null ? glue[name](dir, path, ...rest) : -EROFS;

  return {
    __syscall_openat(dir, path, flags, varargs) {
      const name = textAt(path);
      const host = hostPath(name);
      // The build is instrumented and would leave a profile in the scratch folder when it ends.
      if (name === "default.profraw") return -EPERM;
      if (host === null) return glue.__syscall_openat(dir, path, flags, varargs);
      if (flags & (1 | 2 | 64 | 512 | 1024)) return -EROFS;
      return attempt(() => {
        const folder = fs.statSync(host).isDirectory();
        const fd = nextLibraryFd++;
        libraryOpen.set(fd, {
          nfd: folder ? null : fs.openSync(host, "r"),
          host,
          position: 0,
          names: folder ? [".", "..", ...fs.readdirSync(host)] : [],
        });
        return fd;
      });
    },
    __syscall_stat64(path, buffer) {
      const host = hostPath(textAt(path));
      return host === null ? glue.__syscall_stat64(path, buffer) : stat(host, buffer);
    },
    __syscall_lstat64(path, buffer) {
      const host = hostPath(textAt(path));
      return host === null ? glue.__syscall_lstat64(path, buffer) : stat(host, buffer);
    },
    __syscall_newfstatat(dir, path, buffer, flags) {
      const host = hostPath(textAt(path));
      return host === null
        ? glue.__syscall_newfstatat(dir, path, buffer, flags)
        : stat(host, buffer);
    },
    __syscall_fstat64(fd, buffer) {
      const open = file(fd);
      return open ? stat(open.host, buffer) : glue.__syscall_fstat64(fd, buffer);
    },
    __syscall_faccessat(dir, path, mode, flags) {
      const host = hostPath(textAt(path));
      if (host === null) return glue.__syscall_faccessat(dir, path, mode, flags);
      if (mode & 2) return -EROFS;
      return attempt(() => (fs.statSync(host), 0));
    },
    __syscall_getdents64(fd, buffer, size) {
      const open = file(fd);
      if (!open) return glue.__syscall_getdents64(fd, buffer, size);
      if (open.nfd !== null) return -ENOTDIR;
      const RECORD = 280;
      let used = 0;
      for (; open.position < open.names.length && used + RECORD <= size; used += RECORD) {
        const name = encoder.encode(open.names[open.position++]).subarray(0, 255);
        const at = bytesAt(buffer + used, RECORD).fill(0);
        const view = new DataView(at.buffer, at.byteOffset, RECORD);
        view.setBigInt64(0, 1n, true);
        view.setBigInt64(8, BigInt(open.position), true);
        view.setInt16(16, RECORD, true);
        at[18] = posix.extname(open.names[open.position - 1]) ? 8 : 4;
        at.set(name, 19);
      }
      return used;
    },
    fd_read(fd, table, count, done) {
      const open = file(fd);
      if (!open) return glue.fd_read(fd, table, count, done);
      if (open.nfd === null) return EISDIR;
      open.position += readInto(open, table, count, done, open.position);
      return 0;
    },
    fd_pread(fd, table, count, offset, done) {
      const open = file(fd);
      if (!open) return glue.fd_pread(fd, table, count, offset, done);
      if (open.nfd === null) return EISDIR;
      readInto(open, table, count, done, Number(offset));
      return 0;
    },
    fd_seek(fd, offset, whence, result) {
      const open = file(fd);
      if (!open) return glue.fd_seek(fd, offset, whence, result);
      const end = open.nfd === null ? open.names.length : fs.fstatSync(open.nfd).size;
      const position = Number(offset) + [0, open.position, end][whence];
      if (!(position >= 0)) return EINVAL;
      open.position = position;
      new DataView(program.memory.buffer).setBigInt64(result >>> 0, BigInt(position), true);
      return 0;
    },
    fd_close(fd) {
      const open = file(fd);
      if (!open) return glue.fd_close(fd);
      if (open.nfd !== null) fs.closeSync(open.nfd);
      libraryOpen.delete(fd);
      return 0;
    },
    fd_fdstat_get(fd, buffer) {
      const open = file(fd);
      if (!open) return glue.fd_fdstat_get(fd, buffer);
      bytesAt(buffer, 24).fill(0)[0] = open.nfd === null ? 3 : 4;
      return 0;
    },
    __syscall_fcntl64: (fd, command, varargs) =>
      file(fd) ? 0 : glue.__syscall_fcntl64(fd, command, varargs),
    __syscall_ioctl: (fd, operation, varargs) =>
      file(fd) ? -59 : glue.__syscall_ioctl(fd, operation, varargs),
    __syscall_mkdirat: path2("__syscall_mkdirat"),
    __syscall_unlinkat: path2("__syscall_unlinkat"),
    __syscall_utimensat: path2("__syscall_utimensat"),
    __syscall_rmdir: path1("__syscall_rmdir"),
    __syscall_truncate64: path1("__syscall_truncate64"),
    __syscall_renameat(fromDir, from, toDir, to) {
      const [source, target] = [from, to].map((name) => hostPath(textAt(name)));
      if (source === null && target === null) {
        return glue.__syscall_renameat(fromDir, from, toDir, to);
      }
      return source === null || target === null ? -EXDEV : -EROFS;
    },
  };
}

// The scratch folder is the glue's NODEFS, with what could reach out of it taken away.
function mountScratch() {
  const { FS, NODEFS, ERRNO_CODES } = program;
  const refuse = () => {
    throw new FS.ErrnoError(EPERM);
  };
  // A refusal by Node's permission model has a code that the glue does not know.
  NODEFS.convertNodeCode = (error) => ERRNO_CODES[error.code] ?? EACCES;
  const { mknod, setattr } = NODEFS.node_ops;
  NODEFS.node_ops.symlink = refuse;
  NODEFS.node_ops.readlink = refuse;
  NODEFS.node_ops.mknod = (parent, name, mode, device) =>
    mknod(parent, name, mode & ~0o7000, device);
  // The glue sets the mode of every file it creates; the mode it was created with will do.
  NODEFS.node_ops.setattr = (node, attributes) => {
    if (attributes.mode === undefined) setattr(node, attributes);
  };
  NODEFS.stream_ops.mmap = refuse;
  for (const folder of [LIBRARY, "/work", "/bin", "/lib", "/lib/lean"]) FS.mkdir(folder);
  FS.writeFile("/bin/lean.wasm", "");
  FS.mount(NODEFS, { root: options.scratch }, "/work");
  FS.chdir("/work");
}

// ---------------------------------------------------------------------------------------------
// What the mended glue asks for.

// EM_ASM blocks by their key: the path of the executable, variables of the environment, mounts
// (made here already) and debug output, of which only a failed assertion is worth a line.
function asmConstants() {
  return new Proxy(
    {
      943765: () => newText("/bin/lean.wasm"),
      943522(name) {
        const start = `${textAt(name)}=`;
        const found = ENVIRONMENT.find((text) => text.startsWith(start));
        return found === undefined ? 0 : newText(found.slice(start.length));
      },
      943294(file, line, condition) {
        note(`assertion violated: ${textAt(file)}:${line}: ${textAt(condition)}`);
        return 0;
      },
    },
    { get: (known, key) => known[key] ?? (() => 0) },
  );
}

const lemmata = {
  module: {
    noInitialRun: true,
    stdin: () => null,
    stdout: () => {},
    stderr: () => {},
    print: (text) => note(text),
    printErr: (text) => note(text),
    onRuntimeInitialized: () => onReady(),
  },

  asmConstants: asmConstants(),

  attach(parts) {
    program = parts;
  },

  restrict(glue) {
    const owned = own(glue);
    const imports = {};
    for (const name of Object.keys(glue)) {
      if (Object.hasOwn(owned, name)) imports[name] = owned[name];
      else if (PASSED.has(name) || name.startsWith("invoke_")) imports[name] = glue[name];
      else if (name === "memory") imports[name] = glue[name];
    }
    for (const [name, value] of Object.entries(REFUSED)) {
      imports[name] = value === undefined ? refusal(name) : () => value;
    }
    return imports;
  },

  restrictProxied(call) {
    const name = call.name;
    return PASSED.has(name.slice(1)) || PASSED_BETWEEN_THREADS.has(name) ? call : refusal(name);
  },

  // Table slots for the symbols that may be looked up, in the order of the exports, which is the
  // same in every thread: a slot means the same function everywhere.
  fillTable(exports, offsets) {
    const table = exports.__indirect_function_table;
    const found = [];
    for (const name in exports) {
      if (!SYMBOL.test(name)) continue;
      const value = exports[name];
      if (typeof value === "function") found.push([name, value]);
      else symbols.set(name, value.value);
    }
    let slot = table.grow(found.length);
    for (const [name, value] of found) {
      table.set(slot, value);
      symbols.set(name, slot++);
    }
    for (const name of Object.keys(offsets)) {
      if (Object.hasOwn(exports, name)) fail(`export ${name} is also an imported address`);
      if (!PASSED_BY_ADDRESS.has(name)) offsets[name].value = 0;
    }
  },

  newThread: () =>
    new threads.Worker(__filename, {
      workerData: "em-pthread",
      name: "em-pthread",
      argv: process.argv.slice(2),
      resourceLimits: { stackSizeMb: THREAD_STACK_MB },
    }),
};

async function loadModule(imports, received) {
  try {
    const module = await WebAssembly.compile(fs.readFileSync(options.wasm));
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
      if (kind === "function" && imports[from][name] === undefined) {
        fail(`import ${name} of lean.wasm is not in the launcher's list`);
      }
    }
    received(await WebAssembly.instantiate(module, imports), module);
  } catch (error) {
    fail(describe(error));
  }
}

// ---------------------------------------------------------------------------------------------
// Running.

function useStack(base, bytes) {
  program.exports.emscripten_stack_set_limits(base, base - bytes);
  program.exports._emscripten_stack_restore(base);
}

// The module gives the main thread 64 KiB of stack with static data below and no guard.
function newStack() {
  const low = program.exports.malloc(STACK_BYTES);
  if (!low) fail("no memory for the stack");
  stackBase = (low + STACK_BYTES) & ~15;
  useStack(stackBase, STACK_BYTES);
}

let stackBase = 0;

// When `main` returns instead of exiting (`--version`, `--run`) this build returns an address; the
// number a program wanted is lost, so the end is a plain success.
function finish(returned) {
  const status = returned >= 0 && returned < 256 ? returned : 0;
  try {
    program.exitJS(status, true);
  } catch (error) {
    if (!(error instanceof program.ExitStatus)) trap(error);
  }
  if (errorLine.length) writeError(NEWLINE);
  process.exit(status);
}

function runMain() {
  const argv = ["lean", ...options.args].map(newText);
  const table = program.exports.malloc(4 * (argv.length + 1));
  [...argv, 0].forEach((address, i) => setWord(table + 4 * i, address));
  newStack();
  let status;
  try {
    status = program.exports.__main_argc_argv(argv.length, table);
  } catch (error) {
    if (!(error instanceof program.ExitStatus)) trap(error);
    if (errorLine.length) writeError(NEWLINE);
    process.exit(error.status);
  }
  finish(status);
}

// ---------------------------------------------------------------------------------------------
// Capture: `--run PROGRAM --snapshot` announces its handler on standard output and reads.

let handle = 0;
let standardOutput = (bytes) => writeAll(1, bytes);

function prepareCapture() {
  let seen = "";
  standardOutput = (bytes) => {
    writeAll(1, bytes);
    seen = (seen + decoder.decode(bytes)).slice(-4096);
    const match = /(?:^|\n)LEMMATA-HANDLE (\d+)\r?\n/.exec(seen);
    if (match) handle = Number(match[1]);
  };
  standardInput = () => {
    if (!isMain) fail("the program reads standard input in a thread, which cannot be captured");
    if (!handle) fail("the program reads standard input before it printed LEMMATA-HANDLE");
    capture();
    process.exit(0);
  };
}

const isZero = (page) => {
  for (let i = 0; i < page.length; i++) if (page[i]) return false;
  return true;
};

// The memory when no thread changes it any more: two equal looks, 100 ms apart.
function quietMemory() {
  const { createHash } = require("crypto");
  const look = () => createHash("sha256").update(bytesAt(0, program.memory.buffer.byteLength));
  let before = look().digest("hex");
  for (let i = 0; i < 50; i++) {
    Atomics.wait(nap, 0, 0, 100);
    const now = look().digest("hex");
    if (now === before) return;
    before = now;
  }
  fail("the program's threads did not come to rest");
}

function capture() {
  const pointer = program.exports.emscripten_stack_get_current();
  quietMemory();
  const memory = new BigUint64Array(program.memory.buffer);
  const count = program.memory.buffer.byteLength / PAGE;
  // The task manager must not be alive in the copy: its threads are not. It is forgotten, not
  // finalised; finalising leaves memory that the ending threads still touch.
  if (!word(TASK_MANAGER)) fail("no task manager where this build keeps it");
  setWord(TASK_MANAGER, 0);
  const out = fs.openSync(posix.join(options.capture, "pages"), "w");
  const runs = []; // [first page, number of pages]
  for (let page = 0; page < count; page++) {
    if (isZero(memory.subarray((page * PAGE) / 8, ((page + 1) * PAGE) / 8))) continue;
    const last = runs.at(-1);
    if (last && last[0] + last[1] === page) last[1]++;
    else runs.push([page, 1]);
  }
  for (const [first, length] of runs) writeAll(out, bytesAt(first * PAGE, length * PAGE));
  fs.closeSync(out);
  const state = {
    pages: count,
    runs,
    handle,
    stack: { base: stackBase, bytes: STACK_BYTES, pointer },
    table: program.table.length,
  };
  fs.writeFileSync(posix.join(options.capture, "state.json"), JSON.stringify(state));
}

// ---------------------------------------------------------------------------------------------
// Restore, and the loop that answers.

function restore() {
  const state = JSON.parse(fs.readFileSync(posix.join(options.restore, "state.json"), "utf8"));
  if (state.table !== program.table.length) fail("the snapshot has another function table");
  const size = program.memory.buffer.byteLength;
  bytesAt(0, size).fill(0);
  if (state.pages * PAGE > size) program.memory.grow(state.pages - size / PAGE);
  const pages = fs.openSync(posix.join(options.restore, "pages"), "r");
  for (const [first, length] of state.runs) {
    const target = bytesAt(first * PAGE, length * PAGE);
    for (let at = 0; at < target.length; ) {
      const got = fs.readSync(pages, target, at, target.length - at, null);
      if (!got) fail("the snapshot is cut short");
      at += got;
    }
  }
  fs.closeSync(pages);
  program.exports.emscripten_stack_set_limits(state.stack.base, state.stack.base - state.stack.bytes);
  program.exports._emscripten_stack_restore(state.stack.pointer);
  program.exports.lean_init_task_manager_using(1);
  return state;
}

// Lean objects: a 32-bit count (negative when shared between threads, 0 when never freed), two
// bytes of size, a byte for the number of fields, the tag; then the fields.
function retain(object) {
  const counts = new Int32Array(program.memory.buffer);
  const at = object >>> 2;
  if (counts[at] > 0) counts[at]++;
  else if (counts[at] < 0) Atomics.sub(counts, at, 1);
}

function release(object) {
  if (object & 1) return;
  const counts = new Int32Array(program.memory.buffer);
  const at = object >>> 2;
  if (counts[at] > 1) counts[at]--;
  else if (counts[at]) program.exports.lean_dec_ref_cold(object);
}

const stringBytes = (object) => Buffer.from(bytesAt(object + 20, word(object + 8) - 1));

function newString(bytes) {
  const address = program.exports.malloc(bytes.length + 1);
  if (!address) trap(new Error("no memory for the request"));
  bytesAt(address, bytes.length).set(bytes);
  const object = program.exports.lean_mk_string_from_bytes(address, bytes.length);
  program.exports.free(address);
  return object;
}

function answer(state, request) {
  try {
    retain(state.handle);
    const result = program.exports.lean_apply_2(state.handle, newString(request), 1);
    if (bytesAt(result + 7, 1)[0] !== 0) throw new Error("the handler raised an IO error");
    const reply = stringBytes(word(result + 8));
    release(result);
    return reply;
  } catch (error) {
    if (error instanceof program.ExitStatus) {
      note(`exit: the program ended the process with status ${error.status}`);
      process.exit(EXIT_BY_PROGRAM);
    }
    return trap(error);
  } finally {
    program.exports._emscripten_stack_restore(state.stack.pointer);
  }
}

function lines() {
  const chunk = Buffer.alloc(1 << 16);
  let parts = [];
  let rest = Buffer.alloc(0);
  return () => {
    for (;;) {
      const end = rest.indexOf(10);
      if (end >= 0) {
        const line = Buffer.concat([...parts, rest.subarray(0, end)]);
        parts = [];
        rest = rest.subarray(end + 1);
        return line;
      }
      parts.push(rest);
      const got = readSome(chunk);
      if (!got) return null;
      rest = Buffer.from(chunk.subarray(0, got));
    }
  };
}

function serve(state) {
  const next = lines();
  const turn = () => {
    const line = next();
    if (line === null) {
      if (errorLine.length) writeError(NEWLINE);
      process.exit(0);
    }
    const reply = answer(state, line);
    writeAll(1, Buffer.concat([NEWLINE, reply, NEWLINE]));
    // Threads that ended report to the event loop, which runs between two requests.
    setImmediate(turn);
  };
  turn();
}

function onReady() {
  try {
    mountScratch();
    if (!options.restore) {
      if (options.capture) prepareCapture();
      runMain();
      return;
    }
    const state = restore();
    standardInput = () => 0; // requests are for the loop; elaborated code sees the end of input
    serve(state);
  } catch (error) {
    fail(describe(error));
  }
}

const options = parseArguments(process.argv.slice(2));
globalThis.lemmata = lemmata;
if (isMain) {
  process.on("uncaughtException", trap);
  lemmata.module.instantiateWasm = (imports, received) => void loadModule(imports, received);
} else {
  // A thread whose stack or memory is gone ends the whole process, which would else wait for it.
  process.on("uncaughtException", (error) => {
    note(`trap: in a thread: ${describe(error)}`);
    Atomics.wait(nap, 0, 0, 1000); // the main thread may be ending the process in order
    process.kill(process.pid, "SIGKILL");
  });
}
require(options.glue);
