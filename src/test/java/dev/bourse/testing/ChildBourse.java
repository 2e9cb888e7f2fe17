package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** {@code bourse serve --demo} in a process of its own. */
public final class ChildBourse implements AutoCloseable {
  private final Process process;
  private final String baseUrl;

  /** Starts one on a data folder and waits until it says it is ready. */
  public ChildBourse(Path data, List<String> settings) {
    this(data, settings, "error", ProcessBuilder.Redirect.INHERIT);
  }

  /** One that logs all it can into a file. */
  public static ChildBourse logging(Path data, List<String> settings, Path log) {
    return new ChildBourse(data, settings, "trace", to(log));
  }

  /** One with a flag of the JVM of the test's own. */
  public static ChildBourse flagged(Path data, List<String> settings, String flag) {
    return new ChildBourse(
        data,
        settings,
        "error",
        ProcessBuilder.Redirect.INHERIT,
        Stream.concat(ChildJvm.FLAGS.stream(), Stream.of(flag)).toList());
  }

  /** One with the flags of the JVM that the launcher gives, which logs into a file. */
  public static ChildBourse asLaunched(Path data, List<String> settings, Path log) {
    return new ChildBourse(data, settings, "info", to(log), launcherFlags());
  }

  /** The flags that {@code scripts/run} starts the service with. */
  public static List<String> launcherFlags() {
    try {
      Process told =
          new ProcessBuilder(
                  "bash",
                  "-c",
                  "root=. && . scripts/lib/java && printf '%s\\n' \"${java_flags[@]}\"")
              .start();
      List<String> flags = told.inputReader(StandardCharsets.UTF_8).lines().toList();
      assertTrue(flags.stream().anyMatch(flag -> flag.startsWith("-Xmx")), flags.toString());
      return flags;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A file of the owner's alone: the service warns of others in its data folder. */
  private static ProcessBuilder.Redirect to(Path log) {
    try {
      Files.createFile(
          log, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      return ProcessBuilder.Redirect.to(log.toFile());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ChildBourse(
      Path data, List<String> settings, String logLevel, ProcessBuilder.Redirect log) {
    this(data, settings, logLevel, log, ChildJvm.FLAGS);
  }

  private ChildBourse(
      Path data,
      List<String> settings,
      String logLevel,
      ProcessBuilder.Redirect log,
      List<String> flags) {
    List<String> arguments = new ArrayList<>(List.of("serve", "--demo", "--data", data.toString()));
    List<String> all = new ArrayList<>(settings);
    List<String> usuals =
        new ArrayList<>(List.of("drain-delay=0", "management.port=0", "log.level=" + logLevel));
    if (settings.stream().noneMatch(setting -> setting.startsWith("store.url="))) {
      all.add("store.url=" + TestStore.url(data));
    }
    usuals.addAll(TestStore.patience());
    for (String usual : usuals) {
      String name = usual.substring(0, usual.indexOf('=') + 1);
      if (settings.stream().noneMatch(setting -> setting.startsWith(name))) {
        all.add(usual);
      }
    }
    for (String setting : all) {
      arguments.add("--set");
      arguments.add(setting);
    }
    try {
      process = new ProcessBuilder(ChildJvm.command(flags, arguments)).redirectError(log).start();
      BufferedReader printed = process.inputReader(StandardCharsets.UTF_8);
      String line = printed.readLine();
      assertTrue(line != null && line.startsWith("ready http"), "printed: " + line);
      baseUrl = line.substring("ready ".length());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public String baseUrl() {
    return baseUrl;
  }

  /** Ends it as a power cut would. */
  public void kill() {
    process.destroyForcibly();
    exitCode();
  }

  /** ShutdownHooks it where it stands, as a machine that hangs would. */
  public void freeze() {
    signal("STOP");
  }

  /** Has it go on as if no time had passed. */
  public void thaw() {
    signal("CONT");
  }

  private void signal(String name) {
    try {
      Process sent =
          new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + process.pid())
              .inheritIO()
              .start();
      assertEquals(0, sent.waitFor());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Asks it to end; its exit code. */
  public int terminate() {
    process.destroy();
    return exitCode();
  }

  private int exitCode() {
    try {
      assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the process does not end");
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    kill();
  }
}
