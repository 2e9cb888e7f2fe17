package dev.bourse.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** One process of the service, which is started again after each of its ends. */
final class ServiceProcess {
  /**
   * A start takes one second; on a machine with ten times the work that its cores can do it was
   * seen to take a minute.
   */
  private static final int START_SECONDS = 120;

  private final String name;
  private final Path data;
  private final Path log;
  private final List<String> command = new ArrayList<>();
  private final Map<String, String> environment = new HashMap<>();
  private int port;
  private volatile @Nullable Process process;
  private volatile @Nullable String baseUrl;
  private @Nullable CompletableFuture<@Nullable String> told;

  /**
   * @param name what the record of this run calls it, however often it is started
   * @param folder where its data folder is
   * @param log what it logged, over all its starts
   * @param launch the JVM, its options and the jar
   */
  ServiceProcess(String name, Path folder, Path log, List<String> launch, List<String> settings) {
    this.name = name;
    this.log = log;
    data = folder.resolve(name);
    command.addAll(launch);
    command.addAll(List.of("serve", "--demo", "--data", data.toString()));
    for (String setting : settings) {
      command.add("--set");
      command.add(setting);
    }
    Processes.atEnd(this::kill);
  }

  String name() {
    return name;
  }

  Path data() {
    return data;
  }

  /** Sets a variable of its environment, from its next start on. */
  void environment(String variable, String value) {
    environment.put(variable, value);
  }

  /** Has it listen here from its next start on, whatever it tells others to be. */
  void listenAt(int given) {
    port = given;
  }

  /** Where it was told to listen. */
  int port() {
    return port;
  }

  /** Where it answers; null while it does not. */
  @Nullable String baseUrl() {
    return baseUrl;
  }

  /** Begins a start and waits for nothing. */
  void spawn() {
    try {
      List<String> all = new ArrayList<>(command);
      all.addAll(List.of("--port", "" + port));
      ProcessBuilder builder =
          new ProcessBuilder(all).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
      builder.environment().putAll(environment);
      Process spawned = builder.start();
      process = spawned;
      told =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  BufferedReader out = spawned.inputReader(StandardCharsets.UTF_8);
                  return out.readLine();
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until it says that it is ready. */
  void awaitReady() throws InterruptedException {
    try {
      String line = told == null ? null : told.get(START_SECONDS, TimeUnit.SECONDS);
      if (line == null || !line.startsWith("ready ")) {
        throw new ViolatedException(name + " ended at its start, or said " + line + "; see " + log);
      }
      baseUrl = port == 0 ? line.substring("ready ".length()) : "http://127.0.0.1:" + port;
    } catch (ExecutionException | TimeoutException e) {
      throw new ViolatedException(
          name + " is not ready within " + START_SECONDS + " s; see " + log, e);
    }
  }

  void start() throws InterruptedException {
    spawn();
    awaitReady();
  }

  /** Has it be of another jar from its next start on. */
  void jar(Path jar) {
    command.set(command.indexOf("-jar") + 1, jar.toString());
  }

  /** Ends it as an operator would. */
  void stop() throws IOException, InterruptedException {
    baseUrl = null;
    signal("TERM");
    Process running = process;
    if (running != null && !running.waitFor(START_SECONDS, TimeUnit.SECONDS)) {
      throw new ViolatedException(name + " does not stop; see " + log);
    }
  }

  /** Ends it as a power cut would, whatever it is at. */
  void kill() {
    baseUrl = null;
    Process running = process;
    if (running != null) {
      running.destroyForcibly();
      try {
        if (!running.waitFor(60, TimeUnit.SECONDS)) {
          throw new ViolatedException(name + " does not die of SIGKILL");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Stops it where it stands, as a machine that hangs would. */
  void freeze() throws IOException, InterruptedException {
    signal("STOP");
    // What a thread has asked the kernel for is still done: it stops when it has its answer.
    FaultWorld.until(name + " stands still", 20, this::isStopped);
  }

  private boolean isStopped() {
    Process running = process;
    if (running == null) {
      return false;
    }
    try (DirectoryStream<Path> threads =
        Files.newDirectoryStream(Path.of("/proc/" + running.pid() + "/task"))) {
      for (Path thread : threads) {
        String told = Files.readString(thread.resolve("stat"));
        if (!told.substring(told.lastIndexOf(')')).startsWith(") T")) {
          return false;
        }
      }
      return true;
    } catch (IOException e) {
      // A thread ended while it was looked at.
      return false;
    }
  }

  /** Has it go on as if no time had passed. */
  void thaw() throws IOException, InterruptedException {
    signal("CONT");
  }

  private void signal(String signal) throws IOException, InterruptedException {
    Process running = process;
    if (running == null || Processes.run("kill", "-s", signal, "" + running.pid()) != 0) {
      throw new ViolatedException(name + " is not there any more; see " + log);
    }
  }

  /** What it logged. */
  Path log() {
    return log;
  }

  /** Of the process that was started last. */
  long pid() {
    Process running = process;
    if (running == null) {
      throw new ViolatedException(name + " was not started");
    }
    return running.pid();
  }

  boolean isAlive() {
    Process running = process;
    return running != null && running.isAlive();
  }
}
