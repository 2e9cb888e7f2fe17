package dev.bourse.client.transfer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The browser of the person's desktop. */
final class DesktopBrowser implements CommandEnvironment.Browser {
  private final List<String> opener;

  private DesktopBrowser(String... opener) {
    this.opener = List.of(opener);
  }

  /**
   * The browser of this machine; empty in a remote session or without a display.
   *
   * @param system Java's name of the operating system
   */
  static Optional<CommandEnvironment.Browser> of(Map<String, String> variables, String system) {
    if (isSet(variables, "SSH_CONNECTION")) {
      return Optional.empty();
    }
    String name = system.toLowerCase(Locale.ROOT);
    if (name.startsWith("mac")) {
      return Optional.of(new DesktopBrowser("open"));
    }
    if (name.startsWith("windows")) {
      return Optional.of(new DesktopBrowser("rundll32", "url.dll,FileProtocolHandler"));
    }
    return isSet(variables, "DISPLAY") || isSet(variables, "WAYLAND_DISPLAY")
        ? Optional.of(new DesktopBrowser("xdg-open"))
        : Optional.empty();
  }

  private static boolean isSet(Map<String, String> variables, String name) {
    return !variables.getOrDefault(name, "").isBlank();
  }

  @Override
  public void show(String url) {
    List<String> command = new ArrayList<>(opener);
    command.add(url);
    try {
      // Discards the browser's output.
      new ProcessBuilder(command)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .redirectError(ProcessBuilder.Redirect.DISCARD)
          .start();
    } catch (IOException e) {
      // There is no such program. The terminal shows the address too.
      return;
    }
  }
}
