# Not tried: there was no Nix where this was written. It has no lock file yet: `nix flake lock` makes one.
#
#   nix run . -- load localhost:8080/
#   nix develop
{
  description = "A benchmark for HTTP servers that checks every answer, and says whether its numbers can be believed";

  inputs.nixpkgs.url = "nixpkgs";

  outputs =
    { self, nixpkgs }:
    let
      machines = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      each = make: nixpkgs.lib.genAttrs machines (machine: make nixpkgs.legacyPackages.${machine});
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "dyno-http";
          version = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [
            "--package"
            "dyno-http"
          ];
          # The tests of whole programs start servers and browsers, which a sandbox has not.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            mkdir pages
            $out/bin/dyno man --to pages
            installManPage pages/*
            for shell in bash zsh fish; do
              $out/bin/dyno completions $shell >dyno.$shell
            done
            installShellCompletion dyno.bash dyno.zsh dyno.fish
          '';
          meta.mainProgram = "dyno";
        };
        # For agents that meet at a NATS broker; dyno finds it on PATH.
        nats = pkgs.rustPlatform.buildRustPackage {
          pname = "dyno-nats";
          version = (builtins.fromTOML (builtins.readFile ./carriers/nats/Cargo.toml)).package.version;
          src = ./carriers/nats;
          cargoLock.lockFile = ./carriers/nats/Cargo.lock;
          # Its tests start brokers.
          doCheck = false;
          meta.mainProgram = "dyno-nats";
        };
      });
      devShells = each (pkgs: {
        default = pkgs.mkShell {
          inputsFrom = [ self.packages.${pkgs.stdenv.hostPlatform.system}.default ];
          packages = [
            pkgs.clippy
            pkgs.rustfmt
            pkgs.nodejs
            pkgs.go
            pkgs.python3
          ];
        };
      });
    };
}
