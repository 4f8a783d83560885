# Run inside the new system before it becomes an image. $SERIAL is its serial console.
set -e
systemctl enable -q systemd-networkd systemd-resolved ssh "serial-getty@$SERIAL.service"
# Units that a VM does not need; each takes half a second or more under emulation.
systemctl mask -q e2scrub_reap.service e2scrub_all.timer systemd-pstore.service systemd-repart.service systemd-network-generator.service \
  systemd-fsckd.socket systemd-fsckd.service cloud-init-hotplugd.socket sys-kernel-debug.mount sys-kernel-tracing.mount
# There is always a seed, so no generator has to search for a datasource.
systemctl add-wants -q multi-user.target cloud-init.target
mkdir -p /etc/systemd/system-generators
for generator in cloud-init systemd-gpt-auto systemd-hibernate-resume systemd-integritysetup systemd-run systemd-system-update systemd-veritysetup; do
  ln -sf /dev/null "/etc/systemd/system-generators/$generator-generator"
done
systemctl set-default -q multi-user.target
ln -sf ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf

# What must be unique per VM is generated at first boot.
rm -f /etc/ssh/ssh_host_* /var/lib/dbus/machine-id /var/lib/systemd/random-seed
: > /etc/machine-id

sed -i 's/^MODULES=.*/MODULES=list/; s/^COMPRESS=.*/COMPRESS=gzip/' /etc/initramfs-tools/initramfs.conf
printf '%s\n' virtio_pci virtio_blk virtio_scsi sd_mod >> /etc/initramfs-tools/modules
update-initramfs -c -k all

rm -rf /var/cache/apt/archives/*.deb /var/cache/apt/*.bin /var/lib/apt/lists/* /var/log/*.log /var/log/apt /etc/apt/apt.conf.d/99mmdebstrap
# Without these stamps, the first boot treats /usr as upgraded and rebuilds hwdb and ld.so.cache: minutes under emulation.
touch /etc/.updated /var/.updated
