package dev.bourse.testing;

import dev.bourse.core.Ports;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * An object store of the tests' own: S3Proxy on files of a folder, a process on a free port of this
 * machine. It ends with the process that started it.
 */
public final class S3Server implements AutoCloseable {
  public static final String ACCESS_KEY = "local-identity";
  public static final String SECRET_KEY = "local-credential";
  public static final String BUCKET = "checkpoints";

  private static final long DEADLINE_SECONDS = 60;

  /** Where the build puts it. */
  private static final Path JAR = Path.of("target", "servers", "s3proxy.jar");

  private final Path folder;
  private final int port;
  private final Process process;

  private S3Server(Path folder, int port, Process process) {
    this.folder = folder;
    this.port = port;
    this.process = process;
  }

  /** Starts one with an empty bucket, on a port of its own or a given one. */
  public static S3Server start(Path folder) throws Exception {
    return start(folder, Ports.free());
  }

  public static S3Server start(Path folder, int port) throws Exception {
    if (!Files.isRegularFile(JAR)) {
      throw new IllegalStateException(JAR + " is not there; mvn generate-test-resources puts it");
    }
    Path objects = folder.resolve("objects");
    Files.createDirectories(objects.resolve(BUCKET));
    Path settings =
        Files.writeString(
            folder.resolve("s3proxy.conf"),
            """
            s3proxy.endpoint=http://127.0.0.1:%d
            s3proxy.authorization=aws-v2-or-v4
            s3proxy.identity=%s
            s3proxy.credential=%s
            jclouds.provider=filesystem-nio2
            jclouds.filesystem.basedir=%s
            """
                .formatted(port, ACCESS_KEY, SECRET_KEY, objects));
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx128m",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-jar",
                    JAR.toString(),
                    "--properties",
                    settings.toString()))
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("s3proxy.log").toFile())
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    S3Server server = new S3Server(folder, port, process);
    server.untilReady();
    return server;
  }

  private void untilReady() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (!answers()) {
      if (!process.isAlive() || System.nanoTime() > deadline) {
        throw new IllegalStateException(Files.readString(folder.resolve("s3proxy.log")));
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  private boolean answers() throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) URI.create(endpoint()).toURL().openConnection();
    try {
      return connection.getResponseCode() > 0;
    } catch (IOException e) {
      return false;
    } finally {
      connection.disconnect();
    }
  }

  public int port() {
    return port;
  }

  public String endpoint() {
    return "http://127.0.0.1:" + port;
  }

  /** The setting that names its bucket. */
  public String store() {
    return store(endpoint());
  }

  /** The same through something that stands before it. */
  public static String store(String endpoint) {
    return "s3://%s/bourse?endpoint=%s&region=us-east-1&path-style=true"
        .formatted(BUCKET, endpoint);
  }

  /** A file with its credentials. */
  public Path credentials() throws IOException {
    return Files.writeString(
        folder.resolve("credentials"),
        """
        [default]
        aws_access_key_id = %s
        aws_secret_access_key = %s
        """
            .formatted(ACCESS_KEY, SECRET_KEY));
  }

  /** The names of the objects it has, and of parts of multipart uploads. */
  public List<String> objects() throws IOException {
    Path bucket = folder.resolve("objects").resolve(BUCKET);
    try (Stream<Path> files = Files.walk(bucket)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> bucket.relativize(file).toString())
          .sorted()
          .toList();
    }
  }

  /** Loses an object's bytes. */
  public void lose(String object) throws IOException {
    Files.delete(folder.resolve("objects").resolve(BUCKET).resolve(object));
  }

  /** Stops it as a machine that fails does; what it has stays. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Starts it again with what it has, on the same port. */
  public S3Server again() throws Exception {
    return start(folder, port);
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }
}
