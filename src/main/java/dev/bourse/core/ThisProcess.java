package dev.bourse.core;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** By what operators know this process. */
public final class ThisProcess {
  private static final String HOST = host();

  private ThisProcess() {}

  /** The machine it runs on, as the kernel has it: a name server could be slow to tell. */
  public static String hostName() {
    return HOST;
  }

  /** Its number on that machine. */
  public static long id() {
    return ProcessHandle.current().pid();
  }

  /** Both, as {@code host:number}. */
  public static String name() {
    return HOST + ':' + id();
  }

  private static String host() {
    try {
      return Text.plain(Files.readString(Path.of("/proc/sys/kernel/hostname")).strip());
    } catch (IOException elsewhere) {
      return Text.plain(System.getenv().getOrDefault("HOSTNAME", "this machine"));
    }
  }
}
