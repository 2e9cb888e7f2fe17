package dev.bourse.client.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The environments in which a browser can be opened. */
@Tag("fast")
class DesktopBrowserTest {
  private static boolean isThere(Map<String, String> variables, String system) {
    return DesktopBrowser.of(variables, system).isPresent();
  }

  @Test
  void linuxHasOneWhereThereIsADisplay() {
    assertEquals(true, isThere(Map.of("DISPLAY", ":0"), "Linux"));
    assertEquals(true, isThere(Map.of("WAYLAND_DISPLAY", "wayland-0"), "Linux"));
    assertEquals(false, isThere(Map.of(), "Linux"));
    assertEquals(false, isThere(Map.of("DISPLAY", ""), "Linux"));
    assertEquals(true, isThere(Map.of(), "Mac OS X"));
    assertEquals(true, isThere(Map.of(), "Windows 11"));
  }

  @Test
  void whoComesOverSshSitsElsewhere() {
    Map<String, String> forwarded =
        Map.of("DISPLAY", "localhost:10.0", "SSH_CONNECTION", "198.51.100.7 50000 203.0.113.9 22");
    assertEquals(false, isThere(forwarded, "Linux"));
    assertEquals(false, isThere(forwarded, "Mac OS X"));
  }
}
