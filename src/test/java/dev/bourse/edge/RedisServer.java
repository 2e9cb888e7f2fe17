package dev.bourse.edge;

import dev.bourse.core.Ports;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.RedisServerBuilder;

/**
 * A Redis server of the tests, on a free port of the loopback. Its Linux binary needs OpenSSL 3 on
 * the machine.
 */
public final class RedisServer implements AutoCloseable {
  private final int port;
  private final String[] settings;
  private final Path folder;
  private redis.embedded.RedisServer running;

  /** Its process, while it is frozen. */
  private @Nullable String frozen;

  private RedisServer(int port, String... settings) throws IOException {
    this.port = port;
    this.settings = settings.clone();
    this.folder = Files.createTempDirectory("bourse-redis");
    startAgain();
  }

  /** Starts a server with lines of a configuration file. */
  public static RedisServer start(String... settings) throws IOException {
    return new RedisServer(Ports.free(), settings);
  }

  public int port() {
    return port;
  }

  /** Its address, in the form of the service's settings. */
  public String url() {
    return "redis://127.0.0.1:" + port;
  }

  /** Ends the process; its data is lost. */
  public void stop() throws IOException {
    running.stop();
  }

  /** Starts a new process on the same port. */
  public void startAgain() throws IOException {
    RedisServerBuilder builder =
        redis.embedded.RedisServer.newRedisServer()
            .port(port)
            .bind("127.0.0.1")
            .setting("save \"\"")
            .setting("dir " + folder);
    for (String setting : settings) {
      builder.setting(setting);
    }
    running = builder.build();
    running.start();
  }

  /** Sends a command; returns the first line of its answer. */
  public String ask(String command) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        BufferedReader reader =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
      socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
      socket.getOutputStream().flush();
      return String.valueOf(reader.readLine());
    }
  }

  /** Makes it accept connections and commands without answering, until {@link #thaw}. */
  public void freeze() throws IOException {
    frozen = pid();
    signal("STOP", frozen);
  }

  /** Makes it answer pending commands and continue. */
  public void thaw() throws IOException {
    if (frozen != null) {
      signal("CONT", frozen);
      frozen = null;
    }
  }

  private String pid() throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        BufferedReader reader =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
      socket.getOutputStream().write("INFO server\r\n".getBytes(StandardCharsets.UTF_8));
      socket.getOutputStream().flush();
      String key = "process_id:";
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (line.startsWith(key)) {
          return line.substring(key.length());
        }
      }
      throw new IOException("it does not tell its process");
    }
  }

  private static void signal(String signal, String pid) throws IOException {
    try {
      if (new ProcessBuilder("kill", "-" + signal, pid).start().waitFor() != 0) {
        throw new IOException("process " + pid + " takes no " + signal);
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    thaw();
    running.stop();
    Files.delete(folder);
  }
}
