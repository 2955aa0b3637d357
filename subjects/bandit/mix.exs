defmodule DynoBandit.MixProject do
  use Mix.Project

  # All of them, so that what is measured is said here. Bandit 1.11.1 is the newest that Debian 12's Elixir compiles.
  @libraries [
    bandit: "1.11.1",
    hpax: "1.0.3",
    mime: "2.0.7",
    plug: "1.19.1",
    plug_crypto: "2.1.1",
    telemetry: "1.4.2",
    thousand_island: "1.4.3",
    websock: "0.5.3",
    websock_adapter: "0.5.9"
  ]

  def project do
    [
      app: :dyno_bandit,
      version: "1.0.0",
      elixir: "~> 1.14",
      deps: deps(System.get_env("DYNO_DEPS_BANDIT", "")),
      releases: [dyno_bandit: [include_erts: false]]
    ]
  end

  def application do
    [extra_applications: [:logger], mod: {DynoBandit.Application, []}]
  end

  # From Hex, or from checkouts in a folder of yours.
  defp deps(""), do: @libraries

  defp deps(folder) do
    for {name, _version} <- @libraries, do: {name, path: Path.join(folder, "#{name}"), override: true}
  end
end
