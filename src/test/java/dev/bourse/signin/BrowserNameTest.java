package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("fast")
final class BrowserNameTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Firefox on Linux|Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
        "Chrome on Windows|Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML,"
            + " like Gecko) Chrome/126.0.0.0 Safari/537.36",
        "Edge on Windows|Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like"
            + " Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.87",
        "Opera on macOS|Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/537.36 (KHTML,"
            + " like Gecko) Chrome/125.0.0.0 Safari/537.36 OPR/111.0.0.0",
        "Safari on iPhone|Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)"
            + " AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
        "Chrome on Android|Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like"
            + " Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
        "Firefox on iPad|Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML,"
            + " like Gecko) FxiOS/127.0 Mobile/15E148 Safari/605.1.15",
        "unknown browser|curl/8.5.0",
        "unknown browser|''"
      })
  void aBrowserIsCalledWhatPeopleCallIt(String name, String userAgent) {
    assertEquals(name, BrowserName.of(userAgent));
  }
}
