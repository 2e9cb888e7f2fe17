package dev.bourse.client.capacity;

import dev.bourse.client.transfer.CommandEnvironment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;

/** The commands about a cluster's capacity. */
public final class CapacityCommands {
  private CapacityCommands() {}

  /**
   * {@code up}, {@code down}, {@code status}, {@code quote} and {@code logs}, each made when it is
   * needed.
   */
  public static Map<String, Supplier<CommandLine>> all(CommandEnvironment environment) {
    Map<String, Supplier<CommandLine>> all = new LinkedHashMap<>();
    all.put("up", () -> new CommandLine(new UpCommand(environment)));
    all.put("down", () -> new CommandLine(new DownCommand(environment)));
    all.put("status", () -> new CommandLine(new StatusCommand(environment)));
    all.put("quote", () -> new CommandLine(new QuoteCommand(environment)));
    all.put("logs", () -> new CommandLine(new LogsCommand(environment)));
    return all;
  }
}
