package dev.bourse.nodes;

import dev.bourse.core.Text;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.jspecify.annotations.Nullable;

/**
 * The operator's command that gives a machine a new image. It runs on the service's host, because
 * the tenant may have changed everything on the machine: only an answer from elsewhere proves the
 * new host key.
 */
final class ReimageCommand {
  /** The time between two polls of a command, which takes minutes. */
  private static final long POLL_MILLIS = 50;

  /** Enough for the key and the last messages of an imaging system; the rest is dropped. */
  private static final int MAX_OUTPUT_BYTES = 65_536;

  private static final int MAX_SHOWN_CHARS = 1_000;

  private static final Pattern HOST_KEY =
      Pattern.compile(
          "(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) [A-Za-z0-9+/]+={0,2}( .*)?");

  private final String command;

  ReimageCommand(String command) {
    this.command = command;
  }

  /**
   * Runs the command until it ends, its time is up or the order is not wanted any more. Blocks.
   *
   * @return the machine's new host key, {@code type base64}
   * @throws NodeFailureException with the command's output if it contains no key
   */
  String run(Machine machine, ReimageOrder order) {
    String call = machine.nodeId() + ": reimage";
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(order.remainingMillis());
    Process process = start(call, machine, order);
    Output output = new Output(process.getInputStream());
    Output errors = new Output(process.getErrorStream());
    try {
      while (process.isAlive()) {
        output.read();
        errors.read();
        if (!order.isWanted().getAsBoolean()) {
          throw NodeFailureException.busy(
              call + ": another process has taken over, or this one ends");
        }
        if (System.nanoTime() >= deadline) {
          throw NodeFailureException.unfit(
              "%s: the command did not end in time and was stopped%s"
                  .formatted(call, printed(errors, output)));
        }
        process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
      }
      output.read();
      errors.read();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw NodeFailureException.busy(call + ": this process ends");
    } catch (IOException e) {
      throw NodeFailureException.lasting(
          call + ": the command's output cannot be read: " + e.getMessage());
    } finally {
      end(process);
    }
    if (process.exitValue() != 0) {
      throw NodeFailureException.lasting(
          "%s: the command ended with status %d%s"
              .formatted(call, process.exitValue(), printed(errors, output)));
    }
    return hostKey(call, output.text());
  }

  private Process start(String call, Machine machine, ReimageOrder order) {
    ProcessBuilder builder = new ProcessBuilder("/bin/sh", "-c", command);
    Map<String, String> environment = builder.environment();
    // The service's settings in the environment may be secrets.
    environment.keySet().removeIf(name -> name.startsWith("BOURSE_"));
    environment.put("BOURSE_NODE", machine.nodeId());
    environment.put("BOURSE_POOL", order.pool());
    environment.put("BOURSE_ADDRESS", machine.publicIp());
    environment.put("BOURSE_SSH_PORT", Integer.toString(machine.sshPort()));
    environment.put("BOURSE_ALLOCATION", order.allocationId());
    environment.put("BOURSE_REIMAGE", order.id());
    builder.redirectInput(new File("/dev/null"));
    try {
      return builder.start();
    } catch (IOException e) {
      throw NodeFailureException.lasting(
          call + ": the command cannot be started: " + e.getMessage());
    }
  }

  /** Kills a command and the processes that it started. */
  private static void end(Process process) {
    List<ProcessHandle> children = process.descendants().toList();
    process.destroyForcibly();
    children.forEach(ProcessHandle::destroyForcibly);
  }

  /**
   * Returns the key on the last line.
   *
   * @throws NodeFailureException if the output has no key, or more than one
   */
  static String hostKey(String call, String output) {
    List<String> lines = output.lines().map(String::strip).filter(l -> !l.isEmpty()).toList();
    List<String> keys = lines.stream().filter(line -> HOST_KEY.matcher(line).matches()).toList();
    String last = lines.isEmpty() ? "" : lines.get(lines.size() - 1);
    if (keys.size() > 1) {
      throw NodeFailureException.lasting(
          "%s: the command printed %d host keys; print the one that the service pins"
              .formatted(call, keys.size()));
    }
    if (!HOST_KEY.matcher(last).matches()) {
      throw NodeFailureException.lasting(
          "%s: the command's last line is not a host key such as 'ssh-ed25519 AAAA…' but '%s'"
              .formatted(call, Text.shown(last)));
    }
    String[] words = last.split(" ", 3);
    String key = words[0] + ' ' + words[1];
    try {
      PublicKeyEntry.parsePublicKeyEntry(key).resolvePublicKey(null, null, null);
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw NodeFailureException.lasting(
          "%s: the host key that the command printed cannot be read: %s"
              .formatted(call, e.getMessage()));
    }
    return key;
  }

  /** True if a line has this key; comments are ignored. */
  static boolean isSameKey(String key, @Nullable String line) {
    return line != null && (line.strip() + ' ').startsWith(key + ' ');
  }

  private static String printed(Output errors, Output output) {
    String text = (errors.text() + '\n' + output.text()).strip();
    String shown = text.substring(Math.max(0, text.length() - MAX_SHOWN_CHARS));
    return shown.isEmpty() ? "" : ": " + shown.replaceAll("\\p{Cc}+", " ");
  }

  /**
   * The last part of a command's output. It is read without blocking, because a process that the
   * command leaves running may keep the stream open.
   */
  private static final class Output {
    private final InputStream in;
    private byte[] kept = new byte[0];
    private final byte[] buffer = new byte[8_192];

    Output(InputStream in) {
      this.in = in;
    }

    void read() throws IOException {
      while (in.available() > 0) {
        int count = in.read(buffer);
        if (count < 0) {
          return;
        }
        int old = Math.min(kept.length, MAX_OUTPUT_BYTES - count);
        byte[] all = new byte[old + count];
        System.arraycopy(kept, kept.length - old, all, 0, old);
        System.arraycopy(buffer, 0, all, old, count);
        kept = all;
      }
    }

    String text() {
      return new String(kept, StandardCharsets.UTF_8);
    }
  }
}
