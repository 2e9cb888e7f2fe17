package dev.bourse.client.capacity;

import dev.bourse.client.transfer.CommandEnvironment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;

/** The commands on a cluster's capacity. */
public final class CapacityCommands {
  private CapacityCommands() {}

  /**
   * {@code up}, {@code down}, {@code status}, {@code quote} and {@code logs}, each created on
   * demand.
   */
  public static Map<String, Supplier<CommandLine>> all(CommandEnvironment environment) {
    Map<String, Supplier<CommandLine>> all = new LinkedHashMap<>();
    all.put("up", () -> new UpCommand(environment).commandLine());
    all.put("down", () -> new DownCommand(environment).commandLine());
    all.put("status", () -> new ClusterStatusCommand(environment).commandLine());
    all.put("quote", () -> new QuoteCommand(environment).commandLine());
    all.put("logs", () -> new LogsCommand(environment).commandLine());
    return all;
  }
}
