package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.client.MemberCommands;
import dev.bourse.client.transfer.CommandEnvironment;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * A member's command line in this process: with a folder of its own and without a terminal. What it
 * waits takes no time, but its clock goes on by as much.
 */
public final class MemberShell {
  private final Path home;
  private final Map<String, String> environment = new HashMap<>();
  private final AtomicLong waitedMillis = new AtomicLong();
  public final List<Duration> waits = Collections.synchronizedList(new ArrayList<>());
  private Runnable atWait = () -> {};
  private boolean inRealTime;
  private @Nullable String typed;
  private CommandEnvironment.@Nullable Browser browser;
  private Runnable atQuestion = () -> {};

  /** What a command line came to. */
  public record Outcome(int exitCode, String out, String err) {
    public Outcome ended(int code) {
      assertEquals(code, exitCode, out + err);
      return this;
    }

    public Outcome says(String text) {
      assertTrue((out + err).contains(text), out + err);
      return this;
    }
  }

  public MemberShell(Path home) {
    this.home = home;
    environment.put("XDG_CONFIG_HOME", home.toString());
    environment.put("TERM", "xterm");
  }

  public MemberShell with(String variable, String value) {
    environment.put(variable, value);
    return this;
  }

  /** Somebody is there who answers questions so. */
  public MemberShell typing(String answer) {
    typed = answer;
    return this;
  }

  /** The person sits at a desktop, whose browser is this. */
  public MemberShell browsing(CommandEnvironment.Browser shown) {
    browser = shown;
    return this;
  }

  /** What happens while it waits for the answer. */
  public MemberShell asked(Runnable happening) {
    atQuestion = happening;
    return this;
  }

  private Optional<String> answer() {
    atQuestion.run();
    return Optional.ofNullable(typed);
  }

  /** What happens while it waits. */
  public MemberShell atWait(Runnable happening) {
    atWait = happening;
    return this;
  }

  /**
   * From now on what it waits takes its time, as needs be where two run at once, or the service has
   * to notice first that a connection is lost.
   */
  public MemberShell inRealTime() {
    inRealTime = true;
    return this;
  }

  private void pause(Duration over) throws InterruptedException {
    if (inRealTime) {
      TimeUnit.MILLISECONDS.sleep(over.toMillis());
      return;
    }
    waits.add(over);
    waitedMillis.addAndGet(over.toMillis());
    atWait.run();
  }

  private Clock clock() {
    InstantSource shifted = () -> Instant.now().plusMillis(waitedMillis.get());
    return shifted.withZone(ZoneOffset.UTC);
  }

  public Outcome run(String... arguments) {
    CommandEnvironment commands =
        new CommandEnvironment(
            environment,
            false,
            clock(),
            new Random(1),
            this::pause,
            this::answer,
            Optional.ofNullable(browser));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line =
        MemberCommands.addTo(
            new CommandLine(CommandSpec.create().name("bourse")),
            commands,
            Optional.of(arguments[0]));
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int exitCode = line.execute(arguments);
    return new Outcome(exitCode, out.toString(), err.toString());
  }

  public Path credentials() {
    return home.resolve("bourse/credentials.json");
  }

  public JsonObject stored() {
    try {
      return new JsonObject(Files.readString(credentials()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public void store(JsonObject content) {
    try {
      Files.writeString(credentials(), content.encode());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The account at a service. */
  public JsonObject account(String url) {
    return stored().getJsonObject("services").getJsonObject(url);
  }

  /** The states of uploads that have begun. */
  public List<JsonObject> uploads() {
    List<JsonObject> states = new ArrayList<>();
    Path folder = home.resolve("bourse/uploads");
    if (!Files.isDirectory(folder)) {
      return states;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.json")) {
      for (Path file : files) {
        states.add(new JsonObject(Files.readString(file)));
      }
      return states;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
