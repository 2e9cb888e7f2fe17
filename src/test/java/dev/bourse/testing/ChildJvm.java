package dev.bourse.testing;

import dev.bourse.app.commands.Main;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The command {@code bourse} in a JVM of its own. A build starts some two hundred, and each would
 * read and check the same eight thousand classes: they are taken from an archive of the JVM, which
 * the first test of a build that needs one makes, and which takes a third off each start.
 */
public final class ChildJvm {
  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  /** Flags for what lives for a moment: a quick start matters more than fast code. */
  public static final List<String> FLAGS =
      List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  private static @Nullable List<String> classes;

  private ChildJvm() {}

  /** What starts the command with these arguments. */
  public static List<String> command(List<String> arguments) {
    return command(FLAGS, arguments);
  }

  /** The same with other flags of the JVM. */
  public static List<String> command(List<String> flags, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(JAVA);
    command.addAll(flags);
    command.addAll(classes());
    command.add(Main.class.getName());
    command.addAll(arguments);
    return command;
  }

  private static synchronized List<String> classes() {
    List<String> known = classes;
    if (known == null) {
      try {
        known = archived();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      classes = known;
    }
    return known;
  }

  private static List<String> archived() throws IOException {
    List<String> path =
        List.of(
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                .split(File.pathSeparator, -1));
    Path built = Path.of("target", "classes").toAbsolutePath();
    // Named by what it is made of: classes that are compiled anew make another, as do another JDK
    // and other libraries.
    String name = Runtime.version() + "-" + Long.toHexString(31L * path.hashCode() + stamp(built));
    Path folder = Files.createDirectories(Path.of("target", "child-jvm"));
    Path jar = folder.resolve(name + ".jar").toAbsolutePath();
    Path archive = folder.resolve(name + ".jsa").toAbsolutePath();
    List<String> jars = new ArrayList<>();
    jars.add(jar.toString());
    path.stream().filter(entry -> entry.endsWith(".jar")).forEach(jars::add);
    String classPath = String.join(File.pathSeparator, jars);
    try (FileChannel channel =
            FileChannel.open(
                folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock ignored = channel.lock()) {
      if (!Files.exists(archive)) {
        removeEarlier(folder);
        pack(built, jar);
        record(classPath, archive);
      }
    }
    return List.of("-XX:SharedArchiveFile=" + archive, "-cp", classPath);
  }

  private static void removeEarlier(Path folder) throws IOException {
    try (Stream<Path> earlier = Files.list(folder)) {
      for (Path file : earlier.filter(file -> !file.endsWith("lock")).toList()) {
        Files.delete(file);
      }
    }
  }

  /** Changes whenever a file of the folder does. */
  private static long stamp(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(Files::isRegularFile)
          .sorted()
          .mapToLong(file -> 31L * file.toString().hashCode() + file.toFile().lastModified())
          .reduce(1, (sum, one) -> 31 * sum + one);
    }
  }

  /** An archive takes classes from jars alone. */
  private static void pack(Path folder, Path jar) throws IOException {
    Path part = jar.resolveSibling(jar.getFileName() + ".part");
    try (OutputStream out = Files.newOutputStream(part);
        JarOutputStream packed = new JarOutputStream(out);
        Stream<Path> files = Files.walk(folder)) {
      // Kept as it is: it is read hundreds of times, and lives as long as a build.
      packed.setLevel(0);
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        packed.putNextEntry(new JarEntry(folder.relativize(file).toString()));
        Files.copy(file, packed);
      }
    }
    Files.move(part, jar, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Starts the service and has the JVM write down, when it stops, what it took. */
  private static void record(String classPath, Path archive) throws IOException {
    Path part = archive.resolveSibling(archive.getFileName() + ".part");
    Path data = RunningBourse.newFolder();
    List<String> command = new ArrayList<>();
    command.add(JAVA);
    command.addAll(FLAGS);
    command.addAll(List.of("-XX:ArchiveClassesAtExit=" + part, "-cp", classPath));
    command.addAll(List.of(Main.class.getName(), "serve", "--demo", "--port", "0"));
    command.addAll(List.of("--data", data.toString()));
    for (String setting : List.of("drain-delay=0", "management.port=0", "log.level=error")) {
      command.addAll(List.of("--set", setting));
    }
    // What it warns of are classes that no archive can hold.
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      String line = out.readLine();
      // Process.destroy would close what is read until it ends.
      process.toHandle().destroy();
      process.getInputStream().transferTo(OutputStream.nullOutputStream());
      if (line == null
          || !line.startsWith("ready ")
          || !process.waitFor(60, TimeUnit.SECONDS)
          || !Files.exists(part)) {
        throw new AssertionError("no archive of classes was made; the service said " + line);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    } finally {
      process.destroyForcibly();
    }
    Files.move(part, archive, StandardCopyOption.REPLACE_EXISTING);
  }
}
