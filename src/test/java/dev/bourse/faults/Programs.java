package dev.bourse.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Programs of others that send files, each started again until all of one is there. */
final class Programs {
  /** So often one may end without having sent anything more. */
  private static final int MOST_IN_VAIN = 100;

  private static final int MINUTES = 30;

  private final Path folder;

  /**
   * @param folder where they keep what they keep, and leave what they print
   */
  Programs(Path folder) {
    this.folder = folder;
  }

  /** What begins a program that sends a file from an offset on. */
  interface Sending {
    List<String> command(String session, long from);
  }

  /** curl, which says in Content-Range what it sends and gives up where nothing moves. */
  static Sending curl(Path file) {
    return (session, from) ->
        from == 0
            ? List.of("curl", "-sS", "--speed-time", "4", "-T", "" + file, session)
            : List.of(
                "curl", "-sS", "--speed-time", "4", "-C", "" + from, "-T", "" + file, session);
  }

  /** Google's resumable upload for Node, which asks the service itself how far it is. */
  Sending google(Path uploader, Path file) {
    String state = folder.resolve(file.getFileName() + ".json").toString();
    return (session, from) ->
        List.of("node", "" + uploader, "" + file, state, "--session", session);
  }

  /**
   * Has a program send all of a file.
   *
   * @param base of the proxy that it sends through
   * @return how often it was run: once, and again after each end before all was sent
   */
  int send(FilePublication item, Sending sending, String base)
      throws IOException, InterruptedException {
    int runs = 0;
    String session = base + item.session();
    int inVain = 0;
    long stored = 0;
    while (stored < item.length()) {
      run(item.name(), sending.command(session, stored), Map.of());
      runs++;
      long now = item.stored();
      inVain = now > stored ? 0 : inVain + 1;
      if (inVain == MOST_IN_VAIN) {
        throw new ViolatedException(
            item.name() + " comes no further than " + now + ", see " + folder);
      }
      stored = now;
    }
    return runs;
  }

  /** Runs a program to its end; tells its exit code. */
  int run(String name, List<String> command, Map<String, String> environment)
      throws IOException, InterruptedException {
    Path log = folder.resolve(name + ".out");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().putAll(environment);
    Process process = builder.start();
    process.getOutputStream().close();
    Processes.atEnd(process::destroyForcibly);
    if (!process.waitFor(MINUTES, TimeUnit.MINUTES)) {
      throw new ViolatedException(command.get(0) + " does not end, see " + log);
    }
    return process.exitValue();
  }

  /** Runs one that must succeed. */
  void require(String name, List<String> command, Map<String, String> environment)
      throws IOException, InterruptedException {
    int code = run(name, command, environment);
    if (code != 0) {
      throw new ViolatedException(
          name + " ended with " + code + ": " + Files.readString(folder.resolve(name + ".out")));
    }
  }
}
