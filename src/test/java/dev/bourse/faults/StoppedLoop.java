package dev.bourse.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * One thread of a process held where it stands, as code that does not come to an end would hold it,
 * while all others go on: as a debugger does it, by {@code ptrace}, which Python can call.
 */
final class StoppedLoop {
  private static final Path PYTHON = Path.of("/usr/bin/python3");

  /** Attaches without a signal, stops the one thread, says so, and lets go at its own end. */
  private static final String PROGRAM =
      """
      import ctypes, sys
      ptrace = ctypes.CDLL(None, use_errno=True).ptrace
      ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
      thread = int(sys.argv[1])
      for seize_then_interrupt in (0x4206, 0x4207):
          if ptrace(seize_then_interrupt, thread, None, None) != 0:
              sys.exit(f"ptrace: error {ctypes.get_errno()}")
      print("stopped", flush=True)
      sys.stdin.read()
      """;

  /** As the kernel shortens the names of Vert.x's event loops. */
  private static final String LOOP = "vert.x-eventloo";

  private final Process holder;

  private StoppedLoop(Process holder) {
    this.holder = holder;
  }

  /** Why no thread can be stopped; empty when one can. */
  static String missing() {
    return Files.isExecutable(PYTHON) ? "" : "there is no " + PYTHON + "; install python3";
  }

  /**
   * Stops an event loop.
   *
   * @param isRight whether it is one that may be stopped, now that it is
   */
  static StoppedLoop of(ServiceProcess process, BooleanSupplier isRight)
      throws IOException, InterruptedException {
    for (long thread : loops(process.pid())) {
      StoppedLoop stopped = stop(thread);
      if (isRight.getAsBoolean()) {
        return stopped;
      }
      stopped.letGo();
    }
    throw new ViolatedException("no event loop of " + process.name() + " can be stopped");
  }

  private static List<Long> loops(long pid) throws IOException {
    List<Long> loops = new ArrayList<>();
    try (DirectoryStream<Path> threads =
        Files.newDirectoryStream(Path.of("/proc/" + pid + "/task"))) {
      for (Path thread : threads) {
        if (Files.readString(thread.resolve("comm")).startsWith(LOOP)) {
          loops.add(Long.parseLong(thread.getFileName().toString()));
        }
      }
    }
    return loops;
  }

  private static StoppedLoop stop(long thread) throws IOException {
    Process holder =
        new ProcessBuilder(PYTHON.toString(), "-c", PROGRAM, "" + thread)
            .redirectErrorStream(true)
            .start();
    Processes.atEnd(holder::destroy);
    try (BufferedReader out = holder.inputReader(StandardCharsets.UTF_8)) {
      String said = out.readLine();
      if (!"stopped".equals(said)) {
        throw new ViolatedException("thread " + thread + " cannot be stopped: " + said);
      }
    }
    return new StoppedLoop(holder);
  }

  /** Lets it go on. */
  void letGo() throws IOException, InterruptedException {
    holder.getOutputStream().close();
    if (!holder.waitFor(120, TimeUnit.SECONDS)) {
      throw new ViolatedException("what holds a thread does not let it go");
    }
  }
}
